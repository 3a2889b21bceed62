"""Check addresses of servers, and keep credentials in them out of records and messages."""

from typing import Any
from urllib.parse import urlsplit

from lnexp.errors import UserError


def check_address(option: str, address: Any) -> None:
    """Refuse what is no address of http or https, or has a name and password, which would be recorded with it.

    Raises:
        UserError: for such a value; the text does not have the password.
    """
    try:
        said = urlsplit(str(address))
        known = said.scheme.lower() in ("http", "https") and bool(said.hostname)
    except ValueError:
        known = False
    if not known:
        raise UserError(f"{option}={without_credentials(str(address))}: must be http://… or https://…")
    if "@" in said.netloc or said.query:
        where = without_credentials(str(address))
        raise UserError(f"{option}={where}: must be without a name, a password or a query; ~/.netrc can have these")


def without_credentials(address: str) -> str:
    """Return an address as records and messages may have it, without name, password and query."""
    head, separator, rest = address.partition("://")
    if not separator:
        return address
    server, slash, path = rest.partition("/")
    return f"{head}://{server.rpartition('@')[2]}{slash}{path.partition('?')[0]}"

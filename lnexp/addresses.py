"""Check addresses of servers, and keep credentials in them out of records and messages."""

import re
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
    if "@" in said.netloc or said.query or said.fragment or _has_a_cut_password(str(address)):
        where = without_credentials(str(address))
        raise UserError(f"{option}={where}: must be without a name, a password or a query; ~/.netrc can have these")


def without_credentials(address: str) -> str:
    """Return an address as records and messages may have it, without name, password, query and fragment.

    So is ``https:/name:password@…``; a path on this machine stays as it is.
    """
    head, separator, rest = address.partition("://")
    if not separator:
        is_local = not re.match("https?:", address, re.IGNORECASE)
        return address if is_local else AFTER_PATH.split(address.rpartition("@")[2])[0]
    if _has_a_cut_password(address):
        rest = rest.rpartition("@")[2]
    server, slash, path = AFTER_PATH.split(rest)[0].partition("/")
    return f"{head}://{server.rpartition('@')[2]}{slash}{path}"


#: What begins a query or a fragment.
AFTER_PATH = re.compile("[?#]")


#: What begins as a server does and a user does not: with an address of IPv6, this machine, or a name with a dot.
SERVER = re.compile(r"\[|localhost\b|[^/?#:]*\.", re.IGNORECASE)


def _has_a_cut_password(address: str) -> bool:
    """Return whether a password goes on behind what stands for the server: ``https://name:pass/word@server``.

    ``https://name:12/word@server``, where a port can stand, is told from ``https://server:8080/a@b`` by the names.
    Where there is user information in any case, a part of a password is not told from a path, and neither is shown.
    """
    try:
        said = urlsplit(address)
        _ = said.port  # raises where it can be none
    except ValueError:
        return "@" in address
    _, at, behind = f"{said.path}?{said.query}#{said.fragment}".rpartition("@")
    _, user, server = said.netloc.rpartition("@")
    if not at or ":" not in said.netloc:
        return False
    return bool(user) or (not SERVER.match(server) and bool(SERVER.match(behind)))

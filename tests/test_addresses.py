"""No name and no password of an address is in a record or a message."""

import pytest

from lnexp.addresses import check_address, without_credentials
from lnexp.errors import UserError


@pytest.mark.parametrize(
    "address",
    [
        "https://me:secret@example.org/x",
        "https://me:sec/secret@example.org/x",
        "https://me:12/secret@example.org/x",
        "https://me:sec?secret#@example.org/x",
        "https:/me:secret@example.org/x",
        "HTTPS:me:secret@example.org/x",
        "https://example.org/x?key=secret",
        "https://example.org/x#key=secret",
    ],
)
def test_an_address_with_a_secret_is_refused_without_it(address):
    assert without_credentials(address).endswith("example.org/x")
    with pytest.raises(UserError, match=r"option=.*example\.org/x: must be ") as caught:
        check_address("option", address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("address", ["https://example.org:8000/x", "http://[::1]:8000/a", "https://example.org/a@b"])
def test_an_address_without_one_stays(address):
    check_address("option", address)
    assert without_credentials(address) == address


@pytest.mark.parametrize("path", ["/folder/a@b/x#1?", "~/a@b"])
def test_a_path_stays(path):
    assert without_credentials(path) == path

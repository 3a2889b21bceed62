"""No name and no password of an address is in a record or a message."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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
        "https://me:sec@secret/secret@example.org/x",
        "https://me@secret:12/secret@example.org/x",
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


#: What a path may have that is no letter, but for what begins a query.
MARKS = "@:._-~!$&'()*+,;=/[]%"
WORDS = st.text(string.ascii_letters + string.digits, min_size=1, max_size=8)
PATHS = st.text(string.ascii_letters + string.digits + MARKS, max_size=20).map("/{}".format)
SERVERS = st.one_of(
    st.lists(WORDS, min_size=2, max_size=4).map(".".join), st.sampled_from(["localhost", "[::1]", "10.0.0.1"])
)
PORTS = st.one_of(st.just(""), st.integers(0, 65535).map(":{}".format))


@given(server=SERVERS, port=PORTS, path=PATHS)
@example(server="host", port=":8080", path="/a@b")
@example(server="host", port=":8080", path="/@a/b@1")
def test_a_path_is_no_password(server, port, path):
    address = f"https://{server}{port}{path}"
    check_address("option", address)
    assert without_credentials(address) == address


#: What passwords have, typed as they are. Of a secret a word is found again wherever it was cut.
SECRETS = st.lists(st.sampled_from(["secret", *"@:/?#.[]%12"]), max_size=8).map("".join)


@given(secret=SECRETS, server=SERVERS, port=PORTS, path=WORDS.map("/{}".format))
def test_user_information_is_never_shown(secret, server, port, path):
    address = f"https://me:{secret}@{server}{port}{path}"
    assert without_credentials(address) == f"https://{server}{port}{path}"
    with pytest.raises(UserError) as caught:
        check_address("option", address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("path", ["/folder/a@b/x#1?", "~/a@b"])
def test_a_path_stays(path):
    assert without_credentials(path) == path

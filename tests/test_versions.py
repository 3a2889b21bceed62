"""Versions of packages."""

from lnexp.versions import version


def test_of_what_is_installed_and_of_what_is_not():
    assert version("sacrebleu")[0].isdigit()
    assert version("lnexp-of-nobody") is None

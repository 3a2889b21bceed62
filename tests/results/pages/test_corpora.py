"""Corpora are called as people call them, and two profiles of one corpus are told apart."""

from lnexp.results.pages.corpora import names_of_corpora


def test_the_profile_is_said_where_two_have_one_corpus():
    small, medium, theory, other = ("small", "toy"), ("medium", "toy"), ("theory", "toy"), ("small", "own")
    assert names_of_corpora([small, theory, other]) == {
        small: "embedded corpus",
        theory: "embedded corpus",
        other: "own",
    }
    assert names_of_corpora([small, small, medium]) == {
        small: "embedded corpus (small)",
        medium: "embedded corpus (medium)",
    }

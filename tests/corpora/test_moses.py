"""Tokenised text equals that of Moses' own script."""

import re
import shutil

import pytest
import sacremoses
from helpers import run_script
from hypothesis import given
from hypothesis import strategies as st

from lnexp.corpora.moses import SEPARATOR, MosesTokenizer, lowercase

pytestmark = pytest.mark.slow

TOKENIZERS = {language: MosesTokenizer(language) for language in ("de", "en", "fr")}

CHARACTERS = list("aBéß5,.'`-\"&|<[?…’·\x01\x1d\xa0 Σ№²Ⅷ。ǅ") + list("a.,'") * 3
WORDS = ["z.B.", "U.S.", "Mr.", "No.", "Nr.", "don't", "1990's", "5,300", "'tis", "..", "...", "x'", SEPARATOR]
words = st.text(st.sampled_from(CHARACTERS), max_size=7) | st.sampled_from(WORDS)


@given(
    lines=st.lists(st.lists(words, max_size=6).map(" ".join), max_size=3), language=st.sampled_from(sorted(TOKENIZERS))
)
def test_what_is_remembered_is_what_sacremoses_would_say(lines, language):
    tokenizer = TOKENIZERS[language]
    assert tokenizer.tokenize(lines) == [tokenizer.exact(line) for line in lines]


# by hand from tokenizer.perl of the Moses toolkit
@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("en", "In the U.S.A.", "In the U.S.A ."),
        ("en", "Mr.", "Mr ."),
        ("en", "In the U.S. it rains...", "In the U.S. it rains ..."),
        ("en", "Mr. Smith didn't pay $5,300, so what?", "Mr. Smith didn &apos;t pay $ 5,300 , so what ?"),
        ("en", "No. 5 is alive. No. Way", "No. 5 is alive . No . Way"),
        ("de", "Das ist z.B. ein Test.", "Das ist z.B. ein Test ."),
        ("de", "Er fragte: „Wie geht’s?“ & <ging>", "Er fragte : „ Wie geht ’ s ? “ &amp; &lt; ging &gt;"),
        ("de", "a [b] |c| 'd'", "a &#91; b &#93; &#124; c &#124; &apos; d &apos;"),
        ("de", "", ""),
        ("de", " \t ", ""),
        ("de", "a\x1cb\x07c", "abc"),
        ("en", "one ,2 and", "one , 2 and"),
        ("en", ",2 and", ",2 and"),  # a comma splits off what has something to its left
        ("en", "well-known Ends with 'quote.'", "well-known Ends with &apos; quote . &apos; "),  # the blank is Moses'
    ],
)
def test_moses_rules(language, text, tokens):
    assert TOKENIZERS[language].tokenize([text]) == [tokens]


def test_without_the_rule_for_the_last_word_sacremoses_says_something_else():
    """If this fails, sacremoses has learned it, and ours can go."""
    assert sacremoses.MosesTokenizer("en").tokenize("In the U.S.A.", return_str=True) == "In the U.S.A."


def test_lower_case_knows_no_final_sigma_as_perl():
    assert lowercase("ΟΔΟΣ Straße ÄÖÜ İ") == "οδοσ straße äöü i̇"


def test_a_full_cache_is_emptied_and_nothing_changes(monkeypatch):
    monkeypatch.setattr("lnexp.corpora.moses.CACHE_SIZE", 3)
    tokenizer = MosesTokenizer("en")
    line = "one, two, three, four, five."
    assert [tokenizer.tokenize([line]) for _ in range(3)] == [["one , two , three , four , five ."]] * 3
    tokenizer.tokenize(["six seven"])
    assert len(tokenizer._cache) == 2


def test_the_official_test_sets_come_out_to_the_byte(real_text, tmp_path):
    """IWSLT14: from the campaign's XML to the canonical test split, all 5,050 pairs of the four available sets."""
    for name in ("iwslt14-testsets-xml", "iwslt14-tokenized-subset"):
        shutil.unpack_archive(
            real_text / f"{name}.tar.xz", tmp_path
        )  # tarfile has its filters since Python 3.11.4 alone
    sets = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011")
    for language in ("de", "en"):
        files = [str(tmp_path / "iwslt14-testsets-xml" / f"IWSLT14.{name}.de-en.{language}.xml") for name in sets]
        done = run_script("tokenize_text", "--lang", language, "--lowercase", *files)
        canonical = (tmp_path / "iwslt14-tokenized-subset" / f"test.{language}").read_text(encoding="utf-8")
        assert done.stdout.count("\n") == 5_050
        assert done.stdout == "".join(canonical.splitlines(keepends=True)[:5_050])


def test_the_command_takes_plain_text_and_says_what_is_wrong_with_it(tmp_path):
    (tmp_path / "text").write_bytes("\ufeffDas „Haus“ ist groß.\r\n\r\nJa!\n".encode())
    done = run_script("tokenize_text", "--lang", "de", str(tmp_path / "text"))
    assert done.stdout == "Das „ Haus “ ist groß .\n\nJa !\n"
    (tmp_path / "bad").write_bytes(b"ja\nn\xe4\n")
    done = run_script("tokenize_text", "--lang", "de", str(tmp_path / "bad"))
    assert done.returncode == 2
    assert re.fullmatch(r"error: .*bad:2: not UTF-8 \(byte 2 of the line\)\n", done.stderr)
    done = run_script("tokenize_text", "--lang", "xx", str(tmp_path / "text"))
    assert done.stderr == "xx: Moses has no list of abbreviations; the English one is used\n"
    done = run_script("tokenize_text", "--lang", "de", str(tmp_path / "nowhere"))
    assert done.stderr == f"error: {tmp_path / 'nowhere'}: no such file\n"

"""Segmented words can be restored, and files learned elsewhere are used unchanged."""

import shutil
import subprocess
import sys
from collections import Counter

import pytest
from fairseq.data.data_utils import post_process
from hypothesis import given
from hypothesis import strategies as st

from lnexp.corpora.subwords.none import Whole
from lnexp.corpora.subwords.sentencepiece import SentencePiece
from lnexp.corpora.subwords.subword_nmt import SubwordNmt
from lnexp.errors import UserError

pytestmark = pytest.mark.slow

TEXT = "der die das haus häuser haustür hausmeister meister türen offen &apos; . , don &apos;t"
WORDS = Counter(TEXT.split())
#: A way, and how fairseq joins its subwords.
WAYS = {
    "none": (Whole(), None),
    "subword_nmt": (SubwordNmt(size=20), "subword_nmt"),
    "sentencepiece": (SentencePiece(size=40), "sentencepiece"),
}


@pytest.fixture(scope="module", params=WAYS)
def way(request, tmp_path_factory):
    subwords, joined_by = WAYS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    subwords.learn(WORDS, folder)
    return subwords, folder, joined_by


# normalised text: no white space within a word, and not the mark that stands for it
word = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="▁"), min_size=1).filter(
    lambda text: len(text.split()) == 1 and "@@" not in text
)


@given(words=st.lists(word | st.sampled_from(sorted(WORDS)), min_size=1))
def test_what_is_cut_is_joined_again(way, words):
    subwords, folder, joined_by = way
    cut = subwords.segment(words, folder)
    assert len(cut) == len(words)
    assert post_process(" ".join(cut), joined_by).strip() == " ".join(words)


def test_frequent_words_are_whole_and_rare_ones_are_not(tmp_path):
    words = Counter({"haus": 1000, "tür": 1000, "haustür": 1})
    for subwords in (SubwordNmt(size=5), SentencePiece(size=16)):
        subwords.learn(words, tmp_path)
        cut = subwords.segment(["haus", "haustür"], tmp_path)
        assert " " not in cut[0]
        assert " " in cut[1]


@pytest.mark.parametrize("size", [5, 100_000])
def test_a_vocabulary_that_cannot_be_is_refused_in_a_line(tmp_path, size):
    with pytest.raises(UserError, match=f"data.subword.size={size}: ") as caught:
        SentencePiece(size=size).learn(WORDS, tmp_path)
    assert "\n" not in str(caught.value)


def test_words_without_a_pair_that_occurs_twice_are_refused(tmp_path):
    with pytest.raises(UserError, match="this corpus has nothing to merge"):
        SubwordNmt(size=10).train([("ab", 1), ("cd", 1)], tmp_path)


@pytest.mark.parametrize("way", [SentencePiece(size=16), SubwordNmt(size=5)])
def test_a_folder_may_have_any_name(tmp_path, way):
    folder = tmp_path / "a,b (c) d"
    folder.mkdir()
    words = Counter({"haus": 1000, "tür": 1000, "haustür": 1})
    way.learn(words, folder)
    assert way.segment(["haus"], folder)
    assert [path.name for path in folder.iterdir()] == [way.FILE]


def test_a_model_learned_elsewhere_is_taken(tmp_path):
    for name, given_as, file in (
        ("subword_nmt", "codes", "bpe.codes"),
        ("sentencepiece", "model", "sentencepiece.model"),
    ):
        there, here = tmp_path / f"{name}-there", tmp_path / f"{name}-here"
        there.mkdir()
        here.mkdir()
        subwords = WAYS[name][0]
        subwords.learn(WORDS, there)
        again = type(subwords)(size=7, **{given_as: str(there / file)})
        again.learn(Counter(), here)
        assert again.segment(list(WORDS), here) == subwords.segment(list(WORDS), there)
        with pytest.raises(UserError, match="nowhere: no such"):
            type(subwords)(size=7, **{given_as: str(tmp_path / "nowhere")}).learn(Counter(), here)


def test_the_order_of_words_does_not_matter(tmp_path):
    models = []
    for turn, words in enumerate((WORDS, Counter(dict(reversed(WORDS.items()))))):
        folder = tmp_path / str(turn)
        folder.mkdir()
        WAYS["sentencepiece"][0].learn(words, folder)
        models.append((folder / "sentencepiece.model").read_bytes())
    assert models[0] == models[1]


def test_the_known_merges_of_iwslt14_cut_as_subword_nmts_own_command(real_text, tmp_path):
    shutil.unpack_archive(
        real_text / "iwslt14-tokenized-subset.tar.xz", tmp_path
    )  # tarfile has its filters since Python 3.11.4 alone
    folder = tmp_path / "iwslt14-tokenized-subset"
    subwords = SubwordNmt(size=10_000, codes=str(folder / "code.10k"))
    subwords.learn(Counter(), tmp_path)
    text = (folder / "test.de").read_bytes()
    command = [sys.executable, "-m", "subword_nmt.apply_bpe", "-c", str(folder / "code.10k")]
    official = subprocess.run(command, input=text, capture_output=True, check=True).stdout.decode()
    lines = text.decode().split("\n")[:-1]
    assert official == "".join(" ".join(subwords.segment(line.split(), tmp_path)) + "\n" for line in lines)

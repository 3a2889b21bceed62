"""The benchmark of preparing text prepares as many pairs as it says, made up or the user's own."""

import pytest

from lnexp.benchmarks import preparing_speed
from lnexp.configuration import compose


@pytest.fixture(autouse=True)
def little(monkeypatch):
    monkeypatch.setattr(preparing_speed, "PAIRS", 500)
    monkeypatch.setattr(preparing_speed, "WORD_TYPES", 100)
    monkeypatch.setattr(preparing_speed, "ROUNDS", 1)


def test_made_up_text_is_the_same_each_time_and_has_what_a_tokeniser_must_handle(tmp_path):
    for name in ("one", "other"):
        preparing_speed._write_random_text(tmp_path / name)
    one, other = ({file.name: file.read_text() for file in (tmp_path / name).iterdir()} for name in ("one", "other"))
    assert one == other
    assert one["train.de"].count("\n") == one["train.en"].count("\n") == 500
    assert all(mark in one["train.en"] for mark in (",", '"', "'s", " 5,300", " z.B."))


def test_lines_are_those_of_every_split(tmp_path):
    preparing_speed._write_random_text(tmp_path / "text")
    data = compose(["data=plain", f"data.path={tmp_path / 'text'}"]).data
    lines = preparing_speed._lines(data)
    assert {language: len(side) for language, side in lines.items()} == {"de": 2500, "en": 2500}
    assert preparing_speed._tokenise(lines, 2500) > 0


@pytest.mark.slow
def test_the_row_says_how_many_pairs_of_which_text_were_prepared(tmp_path):
    preparing_speed._write_random_text(tmp_path / "text")
    own = ["data=plain", f"data.path={tmp_path / 'text'}", "data.name=own", "data.subword.size=200"]
    _, _, row = preparing_speed.table(own).splitlines()
    text, pairs, ours, theirs, ratio, processes = (cell.strip() for cell in row.strip("|").split("|"))
    assert (text, pairs) == ("own", "2,500")
    rates = [float(rate.replace(",", "")) for rate in (ours, theirs)]
    assert float(ratio) == pytest.approx(rates[0] / rates[1], abs=0.02)
    assert int(processes) >= 1


def test_without_raw_text_it_is_made_up(tmp_path):
    data, name = preparing_speed._raw_corpus([], tmp_path)
    assert name == "made up"
    assert preparing_speed._lines(data).keys() == {"de", "en"}

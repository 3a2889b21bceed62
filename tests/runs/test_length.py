"""How much of a run is done, by epochs or by updates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.configuration import compose
from lnexp.recipes.jobs import jobs_of
from lnexp.recipes.load import load_recipe
from lnexp.runs.length import Length


def test_a_run_of_epochs():
    length = Length.of(compose(["max_epoch=8"]))
    assert (str(length), length.words(3, 180)) == ("8 epochs", "epoch 3/8")
    assert length.epochs_left(3, 180) == 5


def test_a_run_that_ends_by_its_updates():
    length = Length.of(compose(["max_epoch=8", "max_update=300"]))
    assert str(length) == "300 updates, 8 epochs at most"
    assert (length.words(0, 0), length.words(2, 120)) == ("update 0/300", "update 120/300")
    assert length.epochs_left(2, 120) == pytest.approx(3)
    assert (length.words(5, 300), length.epochs_left(5, 300)) == ("update 300/300", 0)


def test_a_run_that_has_not_begun_is_as_long_as_others_say():
    assert Length(15, 2840).epochs_left(0, 0, 710.0) == 4
    assert Length(15, 2840).epochs_left(0, 0, 10.0) == 15
    assert Length(15, 2840).epochs_left(0, 0) == Length(15).epochs_left(0, 0, 710.0) == 15


def test_a_run_whose_epochs_end_first():
    length = Length(max_epoch=4, max_update=1000)
    assert (length.words(2, 20), length.epochs_left(2, 20)) == ("epoch 2/4", 2)


def test_the_recipe_that_ends_by_updates_is_shown_so():
    job, *_ = jobs_of(load_recipe("fig3_warmup"), compose([]))
    assert Length.of(compose(job.overrides)) == Length(8, 300)


@given(st.integers(1, 50), st.one_of(st.none(), st.integers(1, 5000)), st.integers(1, 200), st.data())
def test_nothing_is_left_at_the_end_alone(max_epoch, max_update, an_epoch, data):
    length = Length(max_epoch, max_update)
    whole = max_epoch if max_update is None else min(max_epoch, -(-max_update // an_epoch))
    epoch = data.draw(st.integers(1, whole))
    update = min(epoch * an_epoch, max_update or epoch * an_epoch)
    assert length.epochs_left(epoch, update) >= 0
    assert (length.epochs_left(epoch, update) == 0) == (epoch == max_epoch or update == max_update)

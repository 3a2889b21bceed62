"""What runs had at an update is the median over seeds of what their snapshots have of the layers, or of the model."""

import pandas as pd
import pytest

from lnexp.errors import UserError
from lnexp.results.pages.along_training import AlongTraining
from lnexp.results.tables.snapshots_table import MEASURES, MODEL

OF_RUN = {"recipe": "failure", "identity": "0"}


def rows_of(arm: str, seed: int, update: int, cosines: list[float], loss: float) -> list[dict]:
    """The rows of a snapshot: of the model, and of its layers."""
    where = {**OF_RUN, "arm": arm, "seed": seed, "update": update}
    of_layers = [
        {**where, "side": "encoder", "layer": layer, **dict.fromkeys(MEASURES, 0.0), "hidden_cosine": cosine}
        for layer, cosine in enumerate(cosines, 1)
    ]
    return [{**where, "side": MODEL, "layer": 0, "train_loss": loss}, *of_layers]


@pytest.fixture
def along(tmp_path) -> AlongTraining:
    rows = [
        *rows_of("bad", 1, 8, [0.5, 0.7], 4.0),
        *rows_of("bad", 2, 8, [0.1, 0.9], 5.0),
        *rows_of("bad", 3, 8, [0.8, 1.0], 4.5),
        *rows_of("good", 1, 8, [0.2, 0.2], 3.0),
        *rows_of("bad", 1, 9, [0.0, 0.0], 1.0),
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "snapshots.csv", index=False)
    return AlongTraining(tmp_path)


@pytest.mark.parametrize(("over", "expected"), [("mean", 0.6), ("min", 0.5), ("max", 0.9)])
def test_of_layers_it_is_what_is_asked_for(along, over, expected):
    assert along.at(8, "hidden_cosine", "bad", over) == pytest.approx(expected)


def test_of_the_model_it_is_its_own(along):
    assert along.at(8, "train_loss", "bad") == 4.5


@pytest.mark.parametrize(("update", "arm"), [(10, "bad"), (9, "good")])
def test_where_nothing_was_measured_it_says_so(along, update, arm):
    with pytest.raises(UserError, match=f"has no train_loss of {arm} at update {update}"):
        along.at(update, "train_loss", arm)

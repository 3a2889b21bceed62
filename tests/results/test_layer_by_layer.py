"""How gradients and hidden states changed along training, by a run's own records; and what is drawn of it."""

import pytest

from lnexp.figures.layers import layers
from lnexp.results.tables.run_tables import probes_table
from lnexp.tasks import load_task
from lnexp.tasks.measures import measures_of

MEASURES = measures_of(load_task("translation"))

#: By update, layer and matrix of one side: the last W² falls to a fifth, the others double.
NORMS = {0: {(1, "W1"): 1.0, (1, "W2"): 1.0, (2, "W1"): 3.0, (2, "W2"): 5.0}, 50: {}, 100: {}}
NORMS[50] = dict.fromkeys(NORMS[0], 9.0)
NORMS[100] = {which: 2 * norm for which, norm in NORMS[0].items()} | {(2, "W2"): 1.0}


@pytest.fixture
def run(make_run):
    run = make_run("good", 1, [1.0])
    for update, norms in NORMS.items():
        for (layer, parameter), norm in norms.items():
            for side in ("encoder", "decoder"):
                where = {"kind": "probe", "epoch": 1, "update": update, "side": side, "layer": layer}
                run.probes.append(where | {"parameter": parameter, "grad_norm": norm, "mean_grad_norm": norm})
        run.probes.append({"kind": "probe", "epoch": 1, "update": update, "side": "encoder", "layer": 1, "output": 1.0})
    return run


def test_the_last_look_is_held_against_the_first(run, make_run):
    assert MEASURES["gradient_change"](run) == pytest.approx(1 / 5)
    assert MEASURES["mean_gradient_change"](run) == pytest.approx((2 * 2 * 2 / 5) ** (1 / 4))
    never = make_run("good", 1, [1.0])
    assert MEASURES["gradient_change"](never) is None
    assert MEASURES["mean_gradient_change"](never) is None


def test_gradients_that_were_nothing_or_no_number_say_nothing(run):
    for record in run.probes:
        if record["update"] == 0 and "grad_norm" in record:
            record["grad_norm"] = 0.0
    assert MEASURES["mean_gradient_change"](run) is None
    for record in run.probes:
        record["grad_norm"] = None
    assert MEASURES["gradient_change"](run) is None


def test_every_look_is_in_table_and_figure(run, make_run):
    table = probes_table([run])
    assert len(table) == 3 * (2 * 4 + 1)
    assert set(table.columns) >= {"arm", "seed", "update", "side", "layer", "parameter", "grad_norm", "output"}
    gradients, states = layers(make_run.recipe, table, "scope")
    assert (gradients.name, states.name) == ("gradients", "states")
    for drawing, panels in ((gradients, 4), (states, 2)):
        (row,) = drawing.rows
        assert len(row) == panels
        assert [line.label for line in row[0].lines] == [f"update {update}" for update in NORMS]
    w2_of_the_encoder = gradients.rows[0][2]
    assert [line.mean for line in w2_of_the_encoder.lines] == [[1.0, 5.0], [9.0, 9.0], [2.0, 1.0]]


def test_the_exponent_of_hidden_states_is_that_of_the_last_look(make_run):
    run = make_run("good", 1, [1.0])
    for update, power in ((0, 3.0), (100, 1.5)):
        for side, more in (("encoder", 0.0), ("decoder", 0.25)):
            for layer in (1, 2, 3, 6):
                where = {"kind": "probe", "epoch": 1, "update": update, "side": side, "layer": layer}
                run.probes.append(where | {"parameter": "W1", "grad_norm": 1.0})
                run.probes.append(where | {"output": 7 * layer ** (power + more)})
    assert MEASURES["encoder_state_exponent"](run) == pytest.approx(1.5)
    assert MEASURES["decoder_state_exponent"](run) == pytest.approx(1.75)


def test_states_of_one_layer_or_none_have_no_exponent(run, make_run):
    assert MEASURES["encoder_state_exponent"](run) is None, "one layer"
    assert MEASURES["decoder_state_exponent"](run) is None, "never looked at"

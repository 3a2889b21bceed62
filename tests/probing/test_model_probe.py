"""``scripts/probe.py`` on one model, untrained or from a checkpoint."""

import json

import pytest
from helpers import TINY_CORPUS, run_script

from lnexp.probing.model_probe import probe_model
from lnexp.theory.by_layer import ffn_gradients
from lnexp.theory.measurement import Context
from lnexp.theory.models import untrained_placement

pytestmark = pytest.mark.slow

MODEL = [f"model.{side}_{what}" for side in ("encoder", "decoder") for what in ("embed_dim=32", "ffn_embed_dim=48")]


def rows_of(*arguments: str) -> list[dict]:
    done = run_script("probe", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["rows"]


def test_an_untrained_model_is_that_of_the_recipes(prepared):
    rows = rows_of("model=pre_ln", TINY_CORPUS, f"data_dir={prepared}", "seed=3", "max_tokens=80", *MODEL)
    assert [(row["side"], row["layer"]) for row in rows] == [
        (side, layer) for side in ("encoder", "decoder") for layer in range(1, 7)
    ]
    context = Context(3, ["data=toy", TINY_CORPUS, f"data_dir={prepared}"])
    model = [setting.removeprefix("model.") for setting in MODEL]
    for expected in ffn_gradients(untrained_placement(context, "pre_ln", model, 2, 80)):
        (row,) = (row for row in rows if (row["side"], row["layer"]) == (expected["side"], expected["layer"]))
        assert row[f"{expected['parameter']}_grad_norm"] == pytest.approx(expected["grad_norm"], rel=1e-5)
        assert row[f"{expected['parameter']}_mean_grad_norm"] == pytest.approx(expected["mean_grad_norm"], rel=1e-5)


def test_a_checkpoint_is_read_with_the_corpus_it_was_trained_on(checkpoint):
    (row,) = rows_of(f"checkpoint={checkpoint}", "parameters=[decoder.layers.0.fc2.weight]")
    (layer,) = (row for row in rows_of(f"checkpoint={checkpoint}") if row["side"] == "decoder")
    assert row == {
        "parameter": "decoder.layers.0.fc2.weight",
        "grad_norm": layer["W2_grad_norm"],
        "mean_grad_norm": layer["W2_mean_grad_norm"],
    }
    done = run_script("probe", f"checkpoint={checkpoint}")
    assert done.returncode == 0
    assert "2 minibatches of at most 512 tokens" in done.stdout
    assert "‖E[∂L/∂W1]‖_F" in done.stdout


def test_a_checkpoint_of_other_code_is_probed_with_a_warning(finished):
    checkpoint = f"checkpoint={finished / 'checkpoints' / 'checkpoint1.pt'}"
    assert "other code" not in run_script("probe", checkpoint).stderr
    environment = json.loads((finished / "environment.json").read_text())
    environment["code"]["plugin/placements/post_ln.py"] = "0"
    (finished / "environment.json").write_text(json.dumps(environment))
    done = run_script("probe", checkpoint)
    assert done.returncode == 0
    assert f"warning: {finished.name} was trained by other code than is here (plugin/plac" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model=pre_nl"], "model=pre_nl: no such model; did you mean pre_ln"),
        (["model=pre_ln", "model.decoder_layers=0"], "model.decoder_layers=0: must be at least 1"),
        (["model=pre_ln", "model.encoder_attention_heads=5"], "heads"),
        (["checkpoint=none.pt"], "none.pt: no such file"),
        (["checkpoint=none.pt", "model=pre_ln"], "model=pre_ln: a checkpoint has its own settings"),
        (["checkpoint=a=b,c.pt"], "a=b,c.pt: no such file"),
        (["checkpoint=none.pt", "checkpoint=other.pt"], "checkpoint=other.pt: checkpoint is given twice"),
        (["checkpoint=none.pt", "data_dir=x"], "data_dir=x: set data=… too"),
        (["checkpoint=none.pt", "optimizer=sgd"], "allowed are data=…"),
        (["model=pre_ln", "+fairseq.checkpoint.finetune_from_model=x.pt"], "probe that checkpoint itself"),
        (["model=pre_ln", "--results", "x"], "--results, --publish: only with recipes"),
        (["+recipe=fig3", "--json"], "--json: only with model=… or checkpoint=…"),
        (["placement=pre_ln"], "model=… or checkpoint=… without a recipe probes one model"),
    ],
)
def test_mistakes_are_one_line(tmp_path, arguments, message):
    done = run_script("probe", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "warned"),
    [(["model=pre_ln"], True), (["model=pre_ln", "init=fairseq"], False), (["model=admin"], False)],
)
def test_weights_that_training_would_not_start_from_are_said(capsys, prepared, options, warned):
    probe_model([*options, TINY_CORPUS, f"data_dir={prepared}", "max_tokens=80", *MODEL])
    assert ("train.py would start from init=fairseq" in capsys.readouterr().err) is warned

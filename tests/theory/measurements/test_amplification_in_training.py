"""The gain of an encoder along runs that were trained before."""

import pytest
import yaml
from helpers import TINY, TINY_CORPUS, run_script

import lnexp.theory.measurements  # noqa: F401  (registers them)
from lnexp.errors import UserError
from lnexp.paths import ROOT
from lnexp.theory.measurement import Context, Row, measure

pytestmark = pytest.mark.slow

SIZES = {"random_size": 1e-4, "gradient_size": 1e-6, "batches": 2}


@pytest.fixture
def recipe(tmp_path):
    """A recipe of tiny runs: at its lower rate none learns anything. Admin's weights depend on the first minibatch."""
    content = yaml.safe_load((ROOT / "recipes/placements.yaml").read_text())
    settings = [*content["settings"], *TINY, "max_epoch=2", "scale.lr_max={low: 1e-30, high: 1e-2}"]
    content |= {
        "settings": settings,
        "claims": [],
        "first_seed": 5,
        "n_seeds": 1,
        "profiles": {"small": {"data": "toy"}},
    }
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def gains(context: Context, recipe, lr_max: str) -> list[Row]:
    arm = {"lr_max": lr_max, "warmup": "none", "placement": "admin"}
    return measure(
        "amplification_in_training", context, {"run": {"recipe": str(recipe), "profile": "small", "arm": arm}} | SIZES
    )


def test_a_run_is_measured_before_training_and_after_every_epoch(tmp_path, prepared, recipe):
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}"]
    context = Context(5, [*where, TINY_CORPUS])
    command = ("train", "-m", f"+recipe={recipe}", "arms=[low_none_admin,high_none_admin]", *where)
    assert run_script(*command, "checkpoints.keep=last").returncode == 0
    with pytest.raises(UserError, match=r"low_none_admin, seed 5: has not every epoch's .* checkpoints\.keep=all"):
        gains(context, recipe, "low")
    assert run_script(*command, "checkpoints.keep=all", "force=true").returncode == 0
    found = {}
    for lr_max in ("low", "high"):
        rows = gains(context, recipe, lr_max)
        assert len({row["run"] for row in rows}) == 1
        updates = sorted({row["updates"] for row in rows})
        assert updates[0] == 0
        assert updates[2] == 2 * updates[1]
        found[lr_max] = {of: [row["value"] for row in rows if row["of"] == of] for of in ("random", "gradient")}
        assert [len(values) for values in found[lr_max].values()] == [3, 3]
    for of in ("random", "gradient"):
        start, *later = found["low"][of]
        assert later == pytest.approx([start] * 2, rel=1e-3), "signs and minibatches are the same at all points"
        assert found["high"][of][0] == start
        assert all(abs(value / start - 1) > 0.05 for value in found["high"][of][1:]), "but the weights are not"

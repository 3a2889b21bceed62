"""Linear probes of trained runs."""

from collections import Counter

import pytest
import yaml
from helpers import TINY, TINY_CORPUS, run_script

import lnexp.theory.measurements  # noqa: F401  (registers them)
from lnexp.errors import UserError
from lnexp.paths import ROOT
from lnexp.theory.measurement import Context, measure

pytestmark = pytest.mark.slow


@pytest.fixture
def recipe(tmp_path):
    """A recipe of tiny runs."""
    content = yaml.safe_load((ROOT / "recipes/failure.yaml").read_text())
    content |= {"settings": [*content["settings"], *TINY, "max_epoch=1"], "claims": []}
    content |= {"profiles": {"small": {"data": "toy"}}, "first_seed": 5, "n_seeds": 1}
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def test_a_run_is_probed_by_side_and_layer(tmp_path, prepared, recipe):
    where = [f"runs_dir={tmp_path / 'runs'}", f"data_dir={prepared}"]
    settings = {"run": {"recipe": str(recipe), "profile": "small", "arm": "post_ln_full"}, "tokens": 256}
    context = Context(5, [*where, TINY_CORPUS])
    with pytest.raises(UserError, match=r"post_ln_full, seed 5: not trained; python scripts/train\.py -m"):
        measure("linear_probes", context, settings)
    done = run_script("train", "-m", f"+recipe={recipe}", "arms=post_ln_full", *where)
    assert done.returncode == 0, done.stderr
    rows = measure("linear_probes", context, settings)
    layers = Counter((row["side"], row["asked"]) for row in rows)
    assert layers.keys() == {(side, asked) for side in ("encoder", "decoder") for asked in ("position", "word_class")}
    assert len({row["run"] for row in rows}) == 1
    assert all(0 <= row["accuracy"] <= 1 for row in rows)
    assert all(
        row["accuracy"] > row["most_frequent"] for row in rows if row["asked"] == "word_class" and row["layer"] == 0
    ), "an embedding has its word"
    with pytest.raises(UserError, match=r"run\.arm=post_ln_some: recipe .* has none; did you mean post_ln_none"):
        measure("linear_probes", context, {**settings, "run": {**settings["run"], "arm": "post_ln_some"}})

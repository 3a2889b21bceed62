"""A recomputation that shares no code with the package gives the published verdicts."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent / "recompute.py"


def recompute(results):
    return subprocess.run([sys.executable, SCRIPT, results], capture_output=True, text=True, check=False)


def test_it_shares_no_code():
    tree = ast.parse(SCRIPT.read_text())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not any(name.startswith("lnexp") for name in names)


def test_every_published_verdict_is_recomputed():
    done = recompute(ROOT / "results")
    assert done.returncode == 0, done.stdout + done.stderr
    claims = [json.loads(path.read_text())["claims"] for path in (ROOT / "results").glob("*/*/*/verdicts.json")]
    assert f"{sum(map(len, claims))} verdicts recomputed, 0 disagree" in done.stdout


@pytest.mark.parametrize("place", ["small/toy/fig2a", "theory/gaussian/theory_lemma1"])
def test_a_wrong_verdict_is_found(tmp_path, place):
    folder = shutil.copytree(ROOT / "results" / place, tmp_path / place)
    text = (folder / "verdicts.json").read_text()
    (folder / "verdicts.json").write_text(text.replace('"verdict": "reproduced"', '"verdict": "contradicted"', 1))
    done = recompute(tmp_path)
    assert done.returncode == 1
    assert "published as contradicted, recomputed as reproduced" in done.stdout


def test_success_rates_are_recomputed(tmp_path):
    """Of the arms of fig2a those with warm-up succeed; without it most runs fail at the lower rate, and not all."""
    folder = shutil.copytree(ROOT / "results/small/toy/fig2a", tmp_path / "small/toy/fig2a")
    content = json.loads((folder / "verdicts.json").read_text())
    claim = content["claims"][0]
    tests = {"success(warmup_low) > 0.2": "reproduced", "success(warmup_low) < 0.2": "contradicted"}
    tests |= {"success(no_warmup_low) < 0.8": "reproduced", "success(no_warmup_low) < 0.2": "inconclusive"}
    content["claims"] = [claim | {"holds_if": test, "verdict": verdict} for test, verdict in tests.items()]
    (folder / "verdicts.json").write_text(json.dumps(content))
    done = recompute(tmp_path)
    assert "4 verdicts recomputed, 0 disagree" in done.stdout, done.stdout + done.stderr

"""From run folders whose right verdict is known to the verdicts, through the real commands' own road."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import ROOT, run_script

from lnexp.configuration import compose
from lnexp.recipes.jobs import jobs_of
from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.collect import collect
from lnexp.results.writing.write import scope, write_results
from lnexp.runs.folder import RunFolder
from lnexp.runs.records import read

pytestmark = pytest.mark.slow

RECIPE = load_recipe("fig2a")
#: As many as a success rate of one needs to be decided.
SEEDS = RECIPE.planned_at("small")[:7]
#: Best BLEU by arm, of the paper's kind.
AS_THE_PAPER = {"no_warmup_low": 8.0, "no_warmup_high": 2.0, "warmup_low": 34.0, "warmup_high": 33.0}


def _rate(arm: str, update: int) -> float:
    """Return the learning rate of an arm at an update before the decay."""
    lr_max = 0.002 if arm.endswith("low") else 0.004
    return lr_max * min(update / 300, 1) if arm.startswith("warmup") else lr_max


class Folders:
    """Writes run folders of fig2a, and judges them.

    Args:
        tmp_path: where they are written.
        paths: the path of each, by its arm and seed, below a folder of runs.
    """

    def __init__(self, tmp_path: Path, paths: dict[tuple[str, int], Path]):
        self.tmp_path, self.overrides = tmp_path, [f"runs_dir={tmp_path / 'runs'}"]
        self.runs = {run: RunFolder(tmp_path / "runs" / path) for run, path in paths.items()}

    def write(self, arm, seed, bleu, state="finished", epochs=8) -> RunFolder:
        folder = self.runs[arm, seed]
        folder.path.mkdir(parents=True)
        folder.write_environment({"cpu": "a processor", "device": "cpu", "data": {"pairs": {"train": 3000}}, "git": {}})
        for epoch in range(1, epochs + 1):
            measured = {
                "valid_loss": 2.0,
                "valid_nll": 1.5,
                "valid_bleu": bleu * epoch / epochs,
                "lr": _rate(arm, 10 * epoch),
                "seconds": 1.0,
            }
            folder.append({"kind": "epoch", "epoch": epoch, "update": 10 * epoch, **measured})
        folder.append({"kind": "end", "test_bleu": bleu if epochs else None})
        folder.set_status(state, updates=10 * epochs)
        return folder

    def write_all(self, bleu, seeds=SEEDS):
        for arm, value in bleu.items():
            for seed in seeds:
                self.write(arm, seed, value + 0.1 * (seed % 3))

    def judge(self, figures: bool = False) -> Path:
        """Write results of the runs, and return their folder."""
        results = self.tmp_path / "results"
        with pytest.MonkeyPatch.context() as patch:
            if not figures:
                patch.setattr("lnexp.results.writing.write.draw_all", lambda recipe, folder: [])
            write_results(RECIPE, collect(RECIPE, self.overrides), "make x", results)
        return results

    def verify(self, figures: bool = False):
        """Exit code and verdicts by claim, as ``make verify`` gives them after collecting.

        Args:
            figures: draw them, too, which takes most of the time and changes no verdict.
        """
        results = self.judge(figures)
        done = run_script("verify", "--recipe", "fig2a", "--profile", "small", "--json", "--results", str(results))
        (block,) = json.loads(done.stdout)
        return done, {claim["id"].removeprefix("fig2a-"): claim["verdict"] for claim in block["claims"]}


@pytest.fixture(scope="module")
def paths(tmp_path_factory) -> dict[tuple[str, int], Path]:
    """The path of each run of fig2a below a folder of runs, by its arm and seed."""
    empty = tmp_path_factory.mktemp("runs")
    jobs = [job for job in jobs_of(RECIPE, compose([])) if job.seed in SEEDS]
    folders = [RunFolder.of(compose([f"runs_dir={empty}", *job.overrides])) for job in jobs]
    return {(job.arm.name, job.seed): folder.path.relative_to(empty) for job, folder in zip(jobs, folders, strict=True)}


@pytest.fixture
def folders(tmp_path, paths) -> Folders:
    return Folders(tmp_path, paths)


@pytest.fixture(scope="module")
def judged(tmp_path_factory, paths) -> Path:
    """Results of runs of the paper's kind."""
    folders = Folders(tmp_path_factory.mktemp("judged"), paths)
    folders.write_all(AS_THE_PAPER)
    return folders.judge()


def test_as_in_the_paper_it_is_reproduced(folders):
    folders.write_all(AS_THE_PAPER)
    done, verdicts = folders.verify()
    assert done.returncode == 0, done.stderr
    assert verdicts == {
        "no-warmup-fails-low": "reproduced",
        "no-warmup-fails-high": "reproduced",
        "warmup-trains-low": "reproduced",
        "warmup-trains-high": "reproduced",
        "warmup-makes-lr-harmless": "reproduced",
        "warmup-makes-lr-harmless-nll": "reproduced",  # they have one nll
        "warmup-lowers-loss-low": "inconclusive",  # they have one loss
        "warmup-lowers-loss-high": "inconclusive",
        "bleu-without-warmup": "not run",  # its own number is asked of the paper's model and corpus alone
        "bleu-with-warmup": "not run",
    }


def test_a_contradiction_is_said_and_no_error(folders):
    folders.write_all(AS_THE_PAPER | {"no_warmup_low": 33.5, "warmup_high": 3.0})
    done, verdicts = folders.verify()
    assert done.returncode == 0
    assert verdicts["no-warmup-fails-low"] == "contradicted"
    assert verdicts["warmup-makes-lr-harmless"] == "contradicted"
    assert verdicts["warmup-trains-high"] == "contradicted"
    assert verdicts["no-warmup-fails-high"] == "reproduced"


def test_a_missing_arm_is_not_run(folders):
    folders.write_all({arm: bleu for arm, bleu in AS_THE_PAPER.items() if arm != "warmup_high"})
    done, verdicts = folders.verify()
    assert done.returncode == 0
    assert (verdicts["warmup-lowers-loss-low"], verdicts["warmup-lowers-loss-high"]) == ("inconclusive", "not run")
    assert verdicts["no-warmup-fails-low"] == "not run", "the missing arm may be the best"


def test_an_arm_that_diverged_is_a_result(folders):
    folders.write_all({arm: bleu for arm, bleu in AS_THE_PAPER.items() if arm != "no_warmup_high"})
    for seed in SEEDS:
        folders.write("no_warmup_high", seed, 0.5, state="diverged", epochs=seed % 2)
    assert folders.verify(figures=True)[1]["no-warmup-fails-high"] == "reproduced"


def test_one_seed_shows_no_difference(folders):
    folders.write_all(AS_THE_PAPER, seeds=SEEDS[:1])
    assert set(folders.verify()[1].values()) == {"inconclusive", "not run"}


@pytest.mark.parametrize("number", ["NaN", "null", "Infinity"])
def test_what_is_no_number_is_no_evidence(folders, number):
    folders.write_all(AS_THE_PAPER)
    for seed in SEEDS[1:]:
        metrics = folders.runs["warmup_low", seed].metrics
        lines = [
            line.replace('"valid_bleu": ', f'"valid_bleu": {number}, "was": ')
            for line in metrics.read_text().split("\n")
        ]
        metrics.write_text("\n".join(lines))
        assert read(metrics)[0]["valid_bleu"] is None
    done, verdicts = folders.verify(figures=number == "NaN")
    assert done.returncode == 0, done.stderr
    assert verdicts["warmup-trains-low"] == verdicts["warmup-makes-lr-harmless"] == "inconclusive", "one seed is left"
    assert verdicts["no-warmup-fails-high"] == "reproduced"


@pytest.mark.parametrize("kept", [0, 1, 2.5])
def test_a_truncated_file_of_a_finished_run_is_malformed(folders, kept):
    folders.write_all(AS_THE_PAPER)
    metrics = folders.runs["warmup_low", SEEDS[1]].metrics
    lines = metrics.read_text().splitlines(keepends=True)
    cut = "".join(lines[: int(kept)]) + (lines[int(kept)][:40] if kept % 1 else "")
    metrics.write_text(cut)
    done, verdicts = folders.verify()
    assert done.returncode == 1
    assert f"warmup_low, seed {SEEDS[1]}: " in done.stderr
    assert "its end record is missing" in done.stderr
    assert verdicts["warmup-trains-low"] == "reproduced", "six seeds are left"


def test_a_line_that_is_no_record_is_malformed(folders):
    folders.write_all(AS_THE_PAPER)
    metrics = folders.runs["warmup_low", SEEDS[1]].metrics
    metrics.write_text(metrics.read_text().replace('"valid_bleu": ', '"valid_bleu": "much", "was": ', 1))
    done, _ = folders.verify()
    assert done.returncode == 1
    assert "metrics.jsonl:1: not a record" in done.stderr


@pytest.mark.parametrize(
    ("was", "now"),
    [("success(no_warmup_low) < 0.5", "success(no_warmup_low) < 0.9"), ('"planned": 10', '"planned": 3')],
)
def test_a_published_verdict_of_another_test_or_plan_is_malformed(judged, tmp_path, was, now):
    results = shutil.copytree(judged, tmp_path / "results")
    replace_in(results / "small/toy/fig2a/verdicts.json", was, now)
    done = run_script("verify", "--results", str(results))
    assert done.returncode == 1
    assert "its claims are not those of fig2a; python scripts/judge.py" in done.stderr


def test_what_was_never_run_is_listed(tmp_path):
    done = run_script("verify", "--results", str(tmp_path), "--recipe", "small_fixed_lr")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert said.startswith(
        "Nothing was run yet: no claim that counts was judged; 12 not run; "
        "6 more do not count: 6 implied by another claim."
    )
    done = run_script("verify", "--results", str(tmp_path), "--recipe", "small_fixed_lr", "--all")
    said = " ".join(done.stdout.split())
    assert "small_fixed_lr (section 3.4 and Fig. 6, fixed lr), profile small, data toy: 6 claims" in said
    assert "12 claims: 12 not run (not counted: 6 implied by another claim)" in said
    unknown = run_script("verify", "--results", str(tmp_path), "--recipe", "fig2c")
    assert unknown.returncode == 2
    assert "no such recipe" in unknown.stderr


def test_a_number_of_the_papers_is_judged_on_the_papers_corpus_alone(make_run):
    from lnexp.results.judging.claims import judge

    claim = make_run.claim("best_bleu(good) > 30", scope="absolute")
    runs = [make_run("good", seed, [34.0 + seed]) for seed in (1, 2, 3)]
    assert judge(claim, make_run.recipe, runs).verdict == "not run"
    make_run.cfg.profile = "paper"
    for run in runs:
        run.environment["data"] = {"part_of": "iwslt14", "pairs": {"train": 51_777}}
    assert judge(claim, make_run.recipe, runs).verdict == "not run", "a part of the corpus"
    for run in runs:
        run.environment["data"]["pairs"]["train"] = 160_239
    own = [replace(run, own_options=("max_epoch=1",)) for run in runs]
    assert judge(claim, make_run.recipe, own).verdict == "not run", "with options of the user's"
    make_run.cfg.precision = "bf16"
    assert judge(claim, make_run.recipe, runs).verdict == "not run", "in a precision that the paper did not have"
    make_run.cfg.precision = "fp32"
    said = [replace(run, own_options=("precision=fp32",)) for run in runs]
    assert judge(claim, make_run.recipe, said).verdict == "reproduced", "in one that it may have had"
    assert judge(claim, make_run.recipe, runs).verdict == "reproduced"


def test_one_order_of_the_data_is_said_where_intervals_are(make_run):
    runs = [make_run("good", seed, [34.0]) for seed in (1, 2, 3)]
    assert "order of the data" not in scope(runs)
    fixed = [replace(run, own_options=("order_seed=1",)) for run in runs]
    assert scope(fixed).endswith("with order_seed=1, one order of the data for all seeds")


def cut_to_one_epoch(folder):
    first, *_, end = folder.metrics.read_text().splitlines(keepends=True)
    folder.metrics.write_text(first + end)


def drop_all_epochs(folder):
    folder.metrics.write_text(folder.metrics.read_text().splitlines(keepends=True)[-1])


def repeat_an_epoch(folder):
    lines = folder.metrics.read_text().splitlines(keepends=True)
    folder.metrics.write_text("".join([lines[0], *lines]))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut_to_one_epoch, "its last epochs are missing"),
        (drop_all_epochs, "its last epochs are missing"),
        (repeat_an_epoch, "it has an epoch twice"),
        (lambda folder: folder.metrics.write_bytes(b"\xff\n"), "metrics.jsonl:1: not a record"),
        (lambda folder: replace_in(folder.metrics, '"valid_bleu": ', '"valid_bleu": 1'), "not a record"),
        (lambda folder: replace_in(folder.metrics, '"valid_bleu": ', '"valid_bleu": -'), "not a record"),
        (
            lambda folder: replace_in(folder.path / "status.json", "finished", "finnished"),
            "malformed (state is not one of",
        ),
        (lambda folder: (folder.path / "environment.json").unlink(), "environment.json lacks"),
        (
            lambda folder: (folder.path / "environment.json").write_text('{"data": null}'),
            "environment.json: malformed (data is NoneType)",
        ),
    ],
)
def test_a_finished_run_that_is_not_whole_is_malformed(folders, damage, message):
    folders.write_all(AS_THE_PAPER)
    damage(folders.runs["warmup_low", SEEDS[1]])
    done, _ = folders.verify()
    assert done.returncode == 1
    assert f"warmup_low, seed {SEEDS[1]}: " in done.stderr
    assert message in done.stderr


def replace_in(path, old, new):
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"verdict": "reproduced"', '"verdict": "contradicted"', "contradicted is not what its margins say"),
        ('"id": "fig2a-no-warmup-fails-high"', '"id": "fig2a-no-warmup-fails-low"', "a claim is there twice"),
        ('"settings": "', '"settings": "x', "its arms are not those of recipe fig2a"),
        ('"estimate": {', '"estimate": {"extra": 1}, "was": {', "malformed"),
    ],
)
def test_published_verdicts_that_contradict_themselves_are_malformed(judged, tmp_path, old, new, message):
    results = shutil.copytree(judged, tmp_path / "results")
    replace_in(results / "small/toy/fig2a/verdicts.json", old, new)
    done = run_script("verify", "--results", str(results))
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_published_here_is_well_formed():
    done = run_script("verify", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "reproduced" in done.stdout

"""The line of a run that has ended."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lnexp.configuration import compose
from lnexp.runs.ended_run import ended_line
from lnexp.runs.folder import RunFolder
from lnexp.runs.identity import label_of
from lnexp.runs.sweep import Sweep, SweepRun
from lnexp.terminal import WIDTH


def test_a_label_says_what_tells_runs_apart():
    said = ["warmup_updates=300", "lr_max=0.004", "seed=12"]
    assert label_of(compose(said)) == "post-ln adam lr .004 warm-up 300 s12"
    other = [
        "model=pre_ln",
        "norm=rms_norm",
        "optimizer=radam",
        "lr_schedule=linear",
        "warmup_updates=1",
        "lr_max=1e-5",
    ]
    assert label_of(compose([*other, "lr_max=1e-5", "seed=3"])) == "pre-ln rms-norm radam linear lr 1e-05 no warm-up s3"


def test_what_a_sweep_varies_and_the_seed_stay_in_sight(tmp_path):
    said = ["model=mix_ln", "optimizer=radam", "lr_max=0.004", "warmup_updates=1"]
    labels = [
        label_of(compose([*said, f"seed={seed}", f"+label=mix_ln_alpha{alpha}"]))
        for alpha in (0.25, 0.5)
        for seed in (1, 2)
    ]
    assert labels[0] == "mix-ln mix_ln_alpha0.25 radam lr .004 no warm-up s1"
    runs = [SweepRun(f"{place}", "x", place % 2 + 1, 2, label=label) for place, label in enumerate(labels)]
    lines = [ended_line(1, Sweep("x", runs), run, RunFolder(tmp_path)) for run in runs]
    assert len(set(lines)) == 4
    assert lines[3].startswith("[1/4] mix_ln_alpha0.5 s2 "), "what all have is left out"


def test_runs_with_one_label_are_called_by_their_arms(tmp_path):
    runs = [SweepRun(name, name, 7, 2, label="post-ln s7", arms=[f"depth/{name}"]) for name in ("shallow", "deep")]
    folder = RunFolder(tmp_path / "x-deep")
    folder.path.mkdir()
    folder.set_status("finished")
    assert ended_line(2, Sweep("x", runs), runs[1], folder) == "[2/2] depth/deep s7       0:00"


@settings(max_examples=50)
@given(label=st.text("abc -", max_size=200), why=st.text("xyz ", max_size=200), total=st.integers(1, 300))
def test_no_line_is_too_long(tmp_path_factory, label, why, total):
    runs = [SweepRun(str(number), f"name-{number}", 1, 2, label=label) for number in range(total)]
    folder = RunFolder(tmp_path_factory.mktemp("run") / "x-0")
    folder.path.mkdir()
    folder.set_status("failed", why)
    line = ended_line(1, Sweep("x", runs), runs[0], folder)
    assert len(line) <= WIDTH
    assert "failed" in line

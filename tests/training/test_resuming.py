"""A run is resumed from its own checkpoint, of the place that its name says, and tested with its own alone."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from helpers import TINY, only_run, run_script

from lnexp.errors import UserError
from lnexp.plugin.half_precision import fp32_copies
from lnexp.runs import records
from lnexp.runs.checksum import write_checksum
from lnexp.runs.folder import RunFolder
from lnexp.training.engine import Engine
from lnexp.training.models.resuming import resuming

pytestmark = pytest.mark.slow


def replace(checkpoint: Path, source: Path, change: Callable[[dict], object] = lambda state: None) -> None:
    """Write what a checkpoint holds, changed, in the place of another one, with a checksum."""
    state = torch.load(source, weights_only=True)
    change(state)
    torch.save(state, checkpoint)
    write_checksum(checkpoint)


@pytest.fixture(scope="module")
def kept() -> dict[bool, Path]:
    """Copies of the runs of ``trained``, in an array or not."""
    return {}


@pytest.fixture
def trained(build, tmp_path, tmp_path_factory, kept) -> Callable[[bool], RunFolder]:
    """A function that returns the folder of a run of two epochs, in an array or not, which is trained once."""

    def make(array: bool) -> RunFolder:
        here = tmp_path / "run-00000000"
        if array in kept:
            shutil.copytree(kept[array], here)
        else:
            build(("seed=1", "checkpoints.keep=all"), array=array).train()
            kept[array] = shutil.copytree(here, tmp_path_factory.mktemp("kept") / here.name)
        return RunFolder(here)

    return make


def resumed(build, array: bool) -> Engine:
    """Begin to train the run of ``trained`` for another epoch."""
    engine = build(("seed=1", "checkpoints.keep=all", "max_epoch=3"), array=array)
    engine.train()
    return engine


#: Name and content of the newest checkpoint, and what is said of it.
PLACES = {
    "an earlier epoch": ("checkpoint2.pt", "checkpoint1.pt", "is of epoch 1, not of 2"),
    "a later epoch": ("checkpoint1.pt", "checkpoint2.pt", "is of epoch 2, not of 1"),
    "the end of an epoch": ("checkpoint_2_5.pt", "checkpoint2.pt", "is of epoch 3, not of 2"),
}


@pytest.mark.parametrize(("place", "array"), [*((place, False) for place in PLACES), ("an earlier epoch", True)])
def test_a_checkpoint_of_another_place_is_refused(build, trained, place, array):
    folder = trained(array)
    name, source, message = PLACES[place]
    replace(folder.checkpoints / name, folder.checkpoints / source)
    if name != "checkpoint2.pt":
        folder.saved.of_epoch(2).unlink()
    with pytest.raises(UserError, match=message):
        resumed(build, array)


def test_a_checkpoint_that_does_not_fit_into_memory_is_no_damaged_one():
    """An array is then halved."""
    with pytest.raises(torch.OutOfMemoryError), resuming(Path("checkpoint1.pt")):
        raise torch.OutOfMemoryError("CUDA out of memory")


def test_a_run_in_half_precision_resumes_to_the_last_digit(build):
    """The optimizer steps parameters in fp32, of which the model has the rounded ones."""
    own = ("precision=bf16", "max_epoch=3", "checkpoints.keep=all")
    states = []
    for is_resumed in (False, True):
        engine = build(own)
        if is_resumed:
            engine.members[0].folder.drop_after(2)
        engine.train()
        states.append([*engine.model.state_dict().values(), *fp32_copies(engine.trainer.optimizer)])
    assert fp32_copies(engine.trainer.optimizer)
    assert all(torch.equal(one, other) for one, other in zip(*states, strict=True))
    folder = engine.members[0].folder
    folder.drop_after(2)
    of_another = {"fp32_parameters": [torch.ones(1)] * len(fp32_copies(engine.trainer.optimizer))}
    replace(folder.saved.of_epoch(2), folder.saved.of_epoch(2), lambda state: state["extra_state"].update(of_another))
    with pytest.raises(
        UserError, match=r"checkpoint2\.pt: nothing to resume from \(ValueError: its fp32_parameters are"
    ):
        build(own).train()


#: Changes of the content of a run's own checkpoint.
CHANGES: dict[str, Callable[[dict], object]] = {
    "no history": lambda state: state.update(optimizer_history=[]),
    "a history of text": lambda state: state.update(optimizer_history=["x"]),
    "no place": lambda state: state["extra_state"].pop("train_iterator"),
    "a place in words": lambda state: state["extra_state"]["train_iterator"].update(epoch="3"),
    "no moments": lambda state: state.pop("last_optimizer_state"),
    "updates in words": lambda state: state["optimizer_history"][-1].update(num_updates="x"),
    "more updates": lambda state: state["optimizer_history"][-1].update(num_updates=10**9),
    "a row of a moment": lambda state: state["last_optimizer_state"]["state"][0].update(exp_avg=torch.zeros(1)),
    "a row of a matrix": lambda state: state["model"].update({MATRIX: state["model"][MATRIX][:1]}),
}
MATRIX = "encoder.layers.0.fc1.weight"
#: Those of what fairseq alone reads, in single runs.
OF_FAIRSEQ: dict[str, Callable[[dict], object]] = {
    "a best loss in words": lambda state: state["extra_state"].update(best="nan"),
    "a time in words": lambda state: state["extra_state"].update(previous_training_time="x"),
}


@pytest.mark.parametrize("array", [False, True])
def test_content_that_training_cannot_be_resumed_from_is_refused_in_a_line(build, trained, array):
    folder = trained(array)
    whole = folder.saved.of_epoch(2).with_name("whole.pt")
    replace(whole, folder.saved.of_epoch(2))
    for name, change in (CHANGES if array else CHANGES | OF_FAIRSEQ).items():
        replace(folder.saved.of_epoch(2), whole, change)
        with pytest.raises(UserError, match=r"checkpoint2\.pt: (nothing to|is of|does not|no ch)") as error:
            resumed(build, array)
        assert "\n" not in str(error.value), name
    replace(folder.saved.of_epoch(2), whole)
    assert resumed(build, array).updates > folder.epochs()[1]["update"]


@pytest.mark.parametrize("array", [False, True])
def test_a_last_checkpoint_that_is_none_of_ours_is_not_trained_on(build, trained, array):
    source = trained(array).saved.of_epoch(2)
    engine = build(("seed=1",), name="other", array=array)
    folder = engine.members[0].folder
    shutil.copy(source, folder.checkpoints / "checkpoint_last.pt")
    engine.train()
    assert [record["epoch"] for record in folder.epochs()] == [1, 2]


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_run_that_is_tuned_begins_with_the_weights_that_it_names_and_resumes_from_its_own(build, trained, precision):
    source = trained(False).saved.of_epoch(2)
    tuned = "seed=1", f"precision={precision}", f"+fairseq.checkpoint.finetune_from_model={source}"
    engine = build(tuned, name="tuned")
    folder = engine.members[0].folder
    (folder.checkpoints / "checkpoint_last.pt").write_text("not a checkpoint")
    engine.train()
    first = folder.epochs()
    assert [record["epoch"] for record in first] == [1, 2]
    untuned = RunFolder(source.parent.parent).epochs()
    assert first[0]["train_loss"] < untuned[0]["train_loss"]
    build((*tuned, "max_epoch=3"), name="tuned").train()
    assert [record["epoch"] for record in folder.epochs()] == [1, 2, 3]


@pytest.mark.parametrize("average", [0, 2])
def test_an_earlier_checkpoint_of_another_run_is_not_tested(tmp_path, where, checkpoint, average):
    settings = [*TINY, *where, "max_epoch=2", "checkpoints.keep=all", f"evaluation.average_last={average}"]
    done = run_script("train", *settings, "seed=1")
    assert done.returncode == 0, done.stderr
    folder, other = RunFolder(only_run(tmp_path)), RunFolder(checkpoint.parents[1])
    said = [record for record in records.read(folder.metrics) if record["kind"] != "end"]
    said[1]["valid_nll"] = 0.1  # the first epoch is the best one
    folder.metrics.write_text("".join(map(records.to_line, said)))
    folder.set_status("running")
    replace(folder.saved.of_epoch(1), checkpoint)
    done = run_script("train", *settings, "seed=1")
    assert done.returncode == 2
    assert f"checkpoint1.pt: is of run {other.identity}, not of {folder.identity}" in done.stderr
    done = run_script("translate", str(folder.path), "x", f"--data-dir={where[1].partition('=')[2]}")
    assert done.returncode == 2
    assert "checkpoint1.pt: is of run" in done.stderr


def test_a_longer_run_begins_after_no_checkpoint_of_another_seed(tmp_path, where):
    settings = [*TINY, *where, "checkpoints.keep=all"]
    done = run_script("train", "-m", *settings, "max_epoch=2", "seed=1,2")
    assert done.returncode == 0, done.stderr
    one, two = (RunFolder(next((tmp_path / "runs").glob(f"*/*-s{seed}-*"))) for seed in (1, 2))
    replace(one.saved.of_epoch(2), two.saved.of_epoch(2))
    done = run_script("train", *settings, "max_epoch=3", "seed=1")
    assert done.returncode == 2
    assert f"checkpoint2.pt: is of run {two.identity}, not of {one.identity}" in done.stderr

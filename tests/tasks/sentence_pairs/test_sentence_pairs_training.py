"""Fine-tuning starts from a checkpoint, trains alone and in arrays, and resumes to the last digit."""

import shutil

import pytest
import torch
from helpers import (
    TINY_CORPUS,
    TINY_ENCODER,
    assert_as_alone,
    error_of,
    recorded,
    rewind_to_first_epoch,
    run_script,
    scored,
)

from lnexp.configuration import check_and_resolve, compose
from lnexp.errors import UserError
from lnexp.plugin.updates import KnowsUpdates
from lnexp.runs.folder import RunFolder
from lnexp.safe_loading import load
from lnexp.tasks import task_of
from lnexp.tasks.sentence_pairs.fairseq_task import start_from

pytestmark = pytest.mark.slow

COMMON = ["data=bert_toy", TINY_CORPUS, *TINY_ENCODER, "tracker=none", "warmup_updates=5"]
TINY = ["task=sentence_pairs", *COMMON, "max_epoch=2"]


def train(*arguments: str):
    done = run_script("train", *arguments)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def folder_of(*arguments: str):
    """Return the folder that a run with these options has."""
    return RunFolder.of(check_and_resolve(compose(arguments))).path


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory, prepared):
    """The folder of a run of ``masked_lm``, and the options of one that starts from its second epoch."""
    where = [f"runs_dir={tmp_path_factory.mktemp('pretrained')}", f"data_dir={prepared}"]
    words = ["task=masked_lm", *COMMON, "blocks.break_mode=eos", "max_epoch=2", *where]
    train(*words)
    folder = folder_of(*words)
    return folder, [*TINY, f"start.run={folder.name.rpartition('-')[2]}", "start.epoch=2", *where]


def elsewhere(pretrained, tmp_path) -> list[str]:
    """Return the options of the same run in another ``runs_dir``, which has the one that it starts from."""
    folder, words = pretrained
    (tmp_path / "adhoc").mkdir()
    (tmp_path / "adhoc" / folder.name).symlink_to(folder)
    return [*(word for word in words if not word.startswith("runs_dir")), f"runs_dir={tmp_path}"]


@pytest.fixture(scope="module")
def alone(pretrained):
    """The folder of a run that starts from the checkpoint, and its stdout."""
    said = train(*pretrained[1], "checkpoints.keep=all")
    return folder_of(*pretrained[1]), said


def test_a_model_is_probed_as_its_training_would_start(pretrained):
    def probed(*start: str) -> tuple[str, str]:
        words = [
            word
            for word in pretrained[1]
            if not word.startswith(("start.", "runs_dir", "max_epoch", "warmup", "tracker"))
        ]
        done = run_script("probe", "model=post_ln", *words, *start)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    where = [word for word in pretrained[1] if word.startswith(("start.", "runs_dir"))]
    begun, warned = probed(*where)
    assert f"from epoch 2 of {where[0].removeprefix('start.run=')}, before training" in begun
    assert "warning: starts from init" not in warned
    scratch, warned = probed("start.epoch=0")
    assert "init=paper, before training" in scratch
    assert "warning: starts from init" in warned
    assert begun.splitlines()[2:] != scratch.splitlines()[2:]


def test_every_checkpoint_of_pre_training_is_kept(pretrained):
    kept = sorted((pretrained[0] / "checkpoints").glob("*.pt"))
    assert [path.name for path in kept] == ["checkpoint1.pt", "checkpoint2.pt"]


def test_a_run_records_accuracy_beside_the_majority(alone):
    folder, said = alone
    *epochs, end = scored(folder)
    assert len(epochs) == 2
    for epoch in epochs:
        assert epoch["valid_majority"] == 0.5
        assert epoch["valid_loss"] == epoch["valid_nll"] > 0
    assert {"test_accuracy", "test_majority", "test_nll"} <= end.keys()
    assert "majority 0.500" in said


def test_the_encoder_is_that_of_the_checkpoint_and_the_head_is_new(pretrained, alone):
    """With a rate of next to nothing a run ends where it starts."""
    folder, words = pretrained
    theirs = load(folder / "checkpoints" / "checkpoint2.pt")["model"]
    still = [*words, "max_epoch=1", "lr_max=1e-12"]
    train(*still)
    mine = load(folder_of(*still) / "checkpoints" / "checkpoint1.pt")["model"]
    assert mine.keys() - theirs.keys() == {"dense.weight", "dense.bias", "classes.weight"}
    assert all(torch.allclose(mine[name], theirs[name], atol=1e-8) for name in theirs)
    tuned = load(alone[0] / "checkpoints" / "checkpoint2.pt")["model"]
    assert not all(torch.equal(tuned[name], theirs[name]) for name in theirs)


def test_an_array_trains_what_runs_of_their_own_do(pretrained, alone, tmp_path):
    words = [*elsewhere(pretrained, tmp_path), "order_seed=1"]
    train("-m", *words, "lr_max=4e-3,1e-3", "hydra/launcher=array")
    mine = folder_of(*words, "lr_max=4e-3")
    assert_as_alone(mine, alone[0])


def test_runs_with_different_starts_share_an_array(pretrained, alone, tmp_path):
    """As in a sweep of recipe fig5_finetune: checkpoints of one placement and seed, and none."""
    words = {}
    for place in ("together", "alone"):
        (tmp_path / place).mkdir()
        said = elsewhere(pretrained, tmp_path / place)
        words[place] = [word for word in said if not word.startswith("start.epoch")]
    train("-m", *words["together"], "start.epoch=0,1,2", "hydra/launcher=array")
    train("-m", *words["alone"], "start.epoch=0,1")
    nlls = set()
    for epoch, single in enumerate([*(folder_of(*words["alone"], f"start.epoch={n}") for n in (0, 1)), alone[0]]):
        together = folder_of(*words["together"], f"start.epoch={epoch}")
        assert '"members": 3' in (together / "metrics.jsonl").read_text()
        assert_as_alone(together, single)
        nlls.add(scored(single)[0]["valid_nll"])
    assert len(nlls) == 3, "each has a start of its own"


def test_an_interrupted_run_resumes_to_the_last_digit(pretrained, alone, tmp_path):
    words = elsewhere(pretrained, tmp_path)
    mine = shutil.copytree(alone[0], folder_of(*words))
    rewind_to_first_epoch(mine)
    said = train(*words)
    assert "epoch 2/2" in said
    assert "epoch 1/2" not in said
    assert recorded(mine, "members") == recorded(alone[0], "members")


def test_without_its_start_a_run_is_refused_and_leaves_no_folder(tmp_path, prepared):
    where = [f"runs_dir={tmp_path}", f"data_dir={prepared}"]
    done = run_script("train", *TINY, *where, "start.run=1a2b3c4d", "start.epoch=1")
    assert "start.run=1a2b3c4d: no such run" in error_of(done)
    assert not list(tmp_path.glob("adhoc/*"))


def test_a_checkpoint_of_another_run_under_its_name_is_refused(pretrained, alone, tmp_path):
    """As when somebody copies checkpoints between folders."""
    folder, words = pretrained
    fake = tmp_path / "adhoc" / folder.name
    (fake / "checkpoints").mkdir(parents=True)
    (fake / "config.yaml").write_bytes((folder / "config.yaml").read_bytes())
    foreign = alone[0] / "checkpoints" / "checkpoint2.pt"
    (fake / "checkpoints" / "checkpoint2.pt").write_bytes(foreign.read_bytes())
    done = run_script("train", *words, f"runs_dir={tmp_path}")
    assert done.returncode == 2
    run, other = (path.name.rpartition("-")[2] for path in (folder, alone[0]))
    assert f"is of run {other}, not of {run}" in done.stderr


def test_a_run_is_planned(prepared):
    done = run_script("plan", *TINY, "start.epoch=0", f"data_dir={prepared}")
    assert done.returncode == 0, done.stderr
    assert "120 labelled pairs, " in done.stdout


@pytest.mark.parametrize(
    "there",
    [None, torch.zeros(1), torch.zeros(32), torch.zeros(3, 3), "x"],
    ids=["nothing", "one", "row", "more", "text"],
)
def test_a_checkpoint_without_a_parameter_of_the_encoder_is_refused(pretrained, alone, tmp_path, there):
    """A number would be taken for all numbers of a parameter, and a row for all rows."""
    state = torch.load(pretrained[0] / "checkpoints" / "checkpoint2.pt", weights_only=True)
    state["model"]["encoder.layers.0.fc1.weight"] = there
    torch.save(state, tmp_path / "checkpoint2.pt")
    model = torch.nn.Module()
    model.state_dict = lambda: {"encoder.layers.0.fc1.weight": torch.ones(32, 32)}
    with pytest.raises(UserError, match=r"checkpoint2.pt: has no encoder.layers.0.fc1.weight of the shape"):
        start_from(model, tmp_path / "checkpoint2.pt", pretrained[0].name.rpartition("-")[2])


def test_a_placement_that_changes_with_updates_cannot_be_fine_tuned(pretrained):
    """Its number of updates starts again, and with it what the encoder computes."""
    with pytest.raises(UserError, match=r"^start.run=1a2b3c4d: its placement changes with the number of updates"):
        start_from(KnowsUpdates(), pretrained[0] / "checkpoints" / "checkpoint2.pt", "1a2b3c4d")


def test_blocks_that_fit_no_batch_are_not_planned(prepared):
    cfg = check_and_resolve(compose(["task=masked_lm", *COMMON, "max_tokens=64", f"data_dir={prepared}"]))
    with pytest.raises(UserError, match=r"blocks.tokens=128: more than the max_tokens=64 of a batch"):
        task_of(cfg).work(cfg)


def test_the_name_of_pairs_is_one_part_of_a_path(tmp_path):
    cfg = check_and_resolve(compose([*TINY, "start.epoch=0", "data.pairs.name=x/../../../y"]))
    with pytest.raises(UserError, match=r"data.pairs.name=x/../../../y: must be at most 100 letters, digits"):
        task_of(cfg).prepare(cfg.data, tmp_path)

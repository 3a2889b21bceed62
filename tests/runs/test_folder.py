"""A run folder's status, files and records."""

import os

import pytest
from helpers import make_whole
from omegaconf import OmegaConf

from lnexp.errors import UserError
from lnexp.runs import records
from lnexp.runs.folder import RunFolder, find_folders, misnamed_folders

EPOCH = {"valid_loss": 2.0, "valid_nll": 1.5, "valid_bleu": 3.0, "lr": 0.1, "seconds": 1.0}


def test_identity_is_in_the_name(folder):
    assert folder.identity == "0123abcd"


def test_status_is_kept_whole_and_remembers_its_start(folder):
    assert folder.status == {}
    assert not folder.is_done
    folder.set_status("running")
    started = folder.status["started"]
    folder.set_status("diverged", "gradients are Nan/Inf", updates=7)
    assert (folder.status["state"], folder.status["updates"], folder.status["started"]) == ("diverged", 7, started)
    assert folder.is_done
    assert [path.name for path in folder.path.glob(".status*")] == []


@pytest.mark.parametrize("content", ["{", "[]", ""])
def test_a_broken_status_is_named(folder, content):
    (folder.path / "status.json").write_text(content)
    with pytest.raises(UserError, match=r"status\.json: malformed"):
        folder.is_done  # noqa: B018
    folder.set_status("running")
    assert folder.status["state"] == "running", "it can be replaced"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("status.json", '{"state": "finished", "why": ""}', "does not have updates"),
        ("status.json", '{"state": "done", "why": "", "updates": 1}', "state is not one of running"),
        ("status.json", '{"state": "finished", "why": "", "updates": 1e400}', "updates is float|not finite"),
        ("status.json", '{"state": "finished", "why": "", "updates": -1}', "updates: is below 0"),
        ("status.json", '{"state": "failed", "why": 5, "updates": 1}', "why is int"),
        ("status.json", '{"state": "running", "why": "", "updates": 1, "started": "2026-01-01T00:00:00"}', "time zone"),
        ("environment.json", '{"git": "abc"}', "git is str"),
        ("environment.json", '{"numerics": "two"}', "numerics is str"),
        ("environment.json", '{"packages": {"torch": 2}}', "torch is int"),
        ("environment.json", '{"data": {"pairs": {"train": "many"}}}', "train is str"),
        ("environment.json", '{"data": {"pairs": {}}}', "pairs: has no train"),
        ("environment.json", '{"data": {"part_of": "nothing"}}', "no known corpus"),
        ("environment.json", '{"code": "0123456789ab"}', "code is str"),
        ("status.json", '{"state": "failed", "state": "finished", "why": "", "updates": 1}', "the key 'state' twice"),
        ("environment.json", '{"git": {"dirty": true, "dirty": false}}', "the key 'dirty' twice"),
        ("config.yaml", "seed: 1\nseed: 2", "the key 'seed' twice"),
        ("config.yaml", "model: lnexp_pre_ln", "model=lnexp_pre_ln: must be a group"),
        ("config.yaml", "lr_max: .inf", "not finite"),
        ("config.yaml", "lr_max: fast", "lr_max=fast: must be a number"),
        ("config.yaml", "threads: 100000", "threads=100000: must be at most"),
        ("config.yaml", "task: nothing", "task=nothing: no such task"),
        ("config.yaml", "recipe: ../../x", r"recipe=\.\./\.\./x: must be at most 100 letters"),
        ("config.yaml", "seed: 2024-01-01", "a date"),
        ("config.yaml", "1: 2", "a key that is no text"),
    ],
)
def test_another_form_is_refused_by_its_place(folder, name, content, message):
    (folder.path / name).write_text(content)
    with pytest.raises(UserError, match=rf"{name}: malformed \(.*{message}".replace(".", r"\.", 1)):
        _ = folder.status, folder.environment, folder.config


def test_translations_that_are_no_text_are_refused(folder):
    folder.write_lines("hypotheses/test.txt", ["one"])
    (folder.path / "hypotheses" / "test.txt").write_bytes(b"\xff\n")
    with pytest.raises(UserError, match=r"test\.txt: malformed"):
        folder.lines("hypotheses/test.txt")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("x\x1b[2J", r"x\x1b[2J"),
        (os.fsdecode(b"x\xff"), r"x\udcff"),
        ("x\u202eb", r"x\u202eb"),
        ("x\nadm 1 finished", "x adm 1 finished"),
    ],
)
def test_a_folder_whose_name_cannot_be_printed_is_no_run_and_named(folder, name, shown):
    runs_dir = folder.path.parent.parent
    (folder.path.parent / f"{name}-89abcdef").mkdir()
    assert list(find_folders(runs_dir)) == [folder.identity]
    (line,) = misnamed_folders(runs_dir)
    assert line.endswith(f"/{shown}-89abcdef: not read, for its name cannot be printed; rename it")


def test_a_place_of_runs_may_have_any_name(tmp_path):
    (tmp_path / "a\u200bb" / "adhoc" / "x-89abcdef").mkdir(parents=True)
    assert list(find_folders(tmp_path / "a\u200bb")) == ["89abcdef"]


def test_the_config_is_read_as_it_was_written(folder):
    assert folder.config == {}
    folder.write_config(OmegaConf.create({"lr_max": 1e-8, "seed": 3, "again": "${seed}", "norm": {"kind": "rms"}}))
    assert folder.config == {"lr_max": 1e-8, "seed": 3, "again": 3, "norm": {"kind": "rms"}}


@pytest.mark.parametrize(
    "content",
    ["- 1", "model: {", "", "a: " + "[" * 50_000, "a: ${oc.env:HOME}", r'a: ["\x24{oc.env:HOME}"]', r'"$\x7bx}": 1'],
)
def test_a_broken_config_is_named_in_a_line(folder, content):
    (folder.path / "config.yaml").write_text(content)
    with pytest.raises(UserError, match=r"^\S*config\.yaml: malformed \(.*\); force=true trains the run afresh$"):
        folder.config  # noqa: B018


def test_lines_end_at_line_feeds_alone(folder):
    lines = ["one", "t\u2028wo", "th\u0085ree", ""]
    folder.write_lines("hypotheses/test.txt", lines)
    assert folder.lines("hypotheses/test.txt") == lines
    assert folder.lines("hypotheses/valid.txt") == []


def test_an_epoch_without_nll_is_not_the_best(folder):
    for epoch, nll in ((1, None), (2, 1.5), (3, 1.7)):
        folder.append({"kind": "epoch", "epoch": epoch, "update": epoch, **EPOCH, "valid_nll": nll})
        make_whole(folder.saved.of_epoch(epoch))
    assert folder.best_epoch() == 2
    assert folder.epochs_to_test(diverged=False) == [2, 3, 1], "each once"


def test_training_goes_on_within_the_epoch_after_the_last_whole_one(folder):
    assert folder.saved.newest() is None
    make_whole(folder.saved.of_epoch(2))
    for epoch, update in ((2, 15), (3, 25), (3, 28), (4, 40)):
        make_whole(folder.saved.within(epoch, update))
    (folder.checkpoints / "checkpoint_best_10.pt").touch()
    assert folder.saved.last_update_within() == 28
    assert folder.saved.newest() == folder.saved.within(3, 28)
    probe = {"kind": "probe", "side": "encoder", "layer": 1}
    for record in ({"kind": "epoch", "epoch": 2, "update": 20}, {**probe, "epoch": 3, "update": 28}):
        folder.append(EPOCH | record)
    folder.append({**probe, "epoch": 3, "update": 29})
    folder.drop_after(2, 28)
    assert [record["update"] for record in records.read(folder.metrics)] == [20, 28]
    assert sorted(path.name for path in folder.checkpoints.glob("checkpoint_?_*")) == ["checkpoint_3_28.pt"]
    make_whole(folder.saved.of_epoch(3))
    assert folder.saved.newest() == folder.saved.of_epoch(3)
    folder.append(EPOCH | {"kind": "epoch", "epoch": 3, "update": 30})
    folder.prune(newest=1, best=False)
    assert sorted(path.name for path in folder.checkpoints.glob("checkpoint*[0-9].pt") if "best" not in path.name) == [
        "checkpoint3.pt"
    ]


@pytest.mark.parametrize(
    ("recorded", "left"),
    [
        (
            [1, 2, 3, 4],
            ["checkpoint1.pt", "checkpoint3.pt", "checkpoint4.pt", "checkpoint_4_35.pt", "checkpoint_5_41.pt"],
        ),
        ([1, 2, 3], ["checkpoint1.pt", "checkpoint3.pt", "checkpoint_4_35.pt"]),
        ([1, 2, 4], ["checkpoint1.pt"]),
        ([], []),
    ],
)
def test_a_checkpoint_that_has_outlived_its_record_is_dropped(folder, recorded, left):
    for epoch in recorded:
        folder.append({"kind": "epoch", "epoch": epoch, "update": 10 * epoch, **EPOCH})
    for epoch in (1, 3, 4):
        make_whole(folder.saved.of_epoch(epoch))
    for epoch, update in ((4, 35), (5, 41)):
        make_whole(folder.saved.within(epoch, update))
    dropped = folder.drop_unrecorded()
    assert sorted(path.name for path in folder.checkpoints.iterdir()) == left
    assert len(dropped) == 5 - len(left)


def test_folders_are_found_by_identity_wherever_they_lie(tmp_path):
    for path in ("fig2a/a-b-0123abcd", "adhoc/c-4567cdef", ".sweeps/x-89ab89ab", "fig2a/notes"):
        (tmp_path / path).mkdir(parents=True)
    assert find_folders(tmp_path) == {
        "0123abcd": tmp_path / "fig2a/a-b-0123abcd",
        "4567cdef": tmp_path / "adhoc/c-4567cdef",
    }
    assert find_folders(tmp_path / "nowhere") == {}


def test_of_copies_of_a_run_the_one_that_is_over_is_found(tmp_path):
    """As when the folders of two machines are put together."""
    copies = [RunFolder(tmp_path / home / "a-0123abcd") for home in ("fig2a", "fig4ab", "other")]
    for copy, state in zip(copies, ("failed", "finished", "finished"), strict=True):
        copy.path.mkdir(parents=True)
        copy.set_status(state)
    assert find_folders(tmp_path) == {"0123abcd": copies[1].path}
    copies[1].set_status("running")
    copies[2].set_status("running")
    assert find_folders(tmp_path) == {"0123abcd": copies[0].path}, "the first, where none is over"

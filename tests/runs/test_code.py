"""Which code a run depends on, and what is said of a run of other code."""

import ast
import shutil
import subprocess

import pytest
import torch
from omegaconf import OmegaConf

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.extensions import PACKAGE
from lnexp.runs import code
from lnexp.runs.code import (
    changes,
    digests,
    is_over,
    is_trained_afresh,
    may_train_again,
    refuse_all_of_other_code,
    refuse_other_code,
)
from lnexp.runs.code_digest import digest_of, older_digest_of
from lnexp.runs.environment import environment, git_state
from lnexp.runs.folder import RunFolder

PRE_LN = "plugin/placements/pre_ln.py"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package, which tests may edit."""
    copy = shutil.copytree(code.PACKAGE, tmp_path / "lnexp", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(code, "PACKAGE", copy)
    return copy


@pytest.fixture
def finished(tmp_path):
    """The folder of a finished run of today's code, and its config."""
    cfg = compose(["model=pre_ln", f"runs_dir={tmp_path / 'runs'}"])
    folder = RunFolder.of(cfg)
    folder.path.mkdir(parents=True)
    folder.write_environment(environment("cpu", {}) | {"code": digests(cfg)})
    folder.set_status("finished")
    return cfg, folder


def recorded(folder, **changed):
    folder.write_environment(folder.environment | changed)


def test_a_run_depends_on_the_modules_that_it_names_and_on_what_all_runs_share():
    found = digests(compose(["model=pre_ln", "optimizer=radam", "lr_schedule=linear", "norm=rms_norm"])).keys()
    assert {PRE_LN, "plugin/optimizers/radam.py", "plugin/lr_schedules/linear.py", "plugin/norms/rms_norm.py"} <= found
    assert {"plugin/layers.py", "training/loop.py", "tasks/translation/evaluation.py", "fairseq_config.py"} <= found
    assert [name for name in found if name.startswith("plugin/placements/")] == [PRE_LN]
    assert not any(name.startswith(("training/diagnostic", "training/snapshots")) for name in found)
    assert not {"training/journal.py", "tasks/translation/planning.py", "tasks/masked_lm/family.py"} & found
    assert not any(name.startswith(("results/", "report/", "launchers/", "corpora/")) for name in found)


def test_a_run_depends_on_the_tasks_that_its_own_builds_on():
    found = digests(compose(["task=sentence_pairs", "start.epoch=0"])).keys()
    assert {"tasks/sentence_pairs/start.py", "tasks/masked_lm/family.py"} <= found
    assert not {"tasks/sentence_pairs/planning.py", "tasks/masked_lm/planning.py"} & found


def test_what_a_named_module_imports_from_its_folder_belongs_to_it():
    assert "plugin/optimizers/adam.py" in digests(compose(["optimizer=radam"])), "RAdam has the options of Adam"


def test_a_name_that_no_module_registers_in_plain_sight_depends_on_all_of_them():
    cfg = compose([])
    cfg.optimizer._name = "made_in_a_loop"
    found = digests(cfg)
    assert {f"plugin/optimizers/{name}.py" for name in ("adam", "radam", "sgd")} <= found.keys()


@pytest.mark.parametrize(
    ("edit", "same"),
    [
        (lambda text: text + "\n# a comment\n", True),
        (lambda text: text.replace('"""', '"""Other words: ', 1), True),
        (lambda text: text.replace("x + block", "2 * x + block"), False),
    ],
)
def test_comments_and_docstrings_change_nothing(edit, same):
    before = (PACKAGE / PRE_LN).read_text()
    assert (after := edit(before)) != before
    for digest in (digest_of, older_digest_of):
        assert (digest(ast.parse(after)) == digest(ast.parse(before))) is same


def test_a_module_that_cannot_be_read_is_one_line(package):
    (package / PRE_LN).write_text("def (")
    with pytest.raises(UserError, match=r"pre_ln.py: "):
        digests(compose(["model=pre_ln"]))


def test_a_run_of_this_code_is_left_alone(finished):
    cfg, folder = finished
    recorded(folder, git={"commit": "a" * 40, "dirty": False})
    assert changes(cfg, folder) == "", "a commit that touches nothing that it depends on is no other code"
    refuse_other_code(cfg, folder)
    assert refuse_all_of_other_code([(cfg, folder)]) == ""


@pytest.mark.parametrize(
    ("job", "restarts", "stays"), [("7", "1", True), ("7", "0", False), ("8", "1", False), (None, "1", False)]
)
def test_a_job_that_slurm_has_queued_again_trains_no_run_afresh_twice(finished, monkeypatch, job, restarts, stays):
    cfg, folder = finished
    cfg.force = True
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    folder.set_status("finished")
    monkeypatch.setenv("SLURM_RESTART_COUNT", restarts)
    monkeypatch.setenv("SLURM_JOB_ID", job) if job else monkeypatch.delenv("SLURM_JOB_ID")
    assert is_over(cfg, folder) is stays
    assert is_trained_afresh(cfg, folder) is not stays


def test_a_run_that_recorded_digests_of_the_older_form_is_left_alone(finished):
    cfg, folder = finished
    older = {name: older_digest_of(ast.parse((PACKAGE / name).read_text())) for name in digests(cfg)}
    recorded(folder, code=older)
    assert changes(cfg, folder) == ""
    recorded(folder, code=older | {PRE_LN: "0" * 12})
    assert changes(cfg, folder) == PRE_LN


def test_a_finished_run_of_other_code_is_named_with_what_differs(finished):
    cfg, folder = finished
    recorded(folder, code=digests(cfg) | {PRE_LN: "0"}, packages={"torch": "2.6.0"})
    assert changes(cfg, folder) == f"{PRE_LN}, torch 2.6.0"
    with pytest.raises(UserError) as refused:
        refuse_other_code(cfg, folder)
    assert str(refused.value) == (
        f"{folder.name}: finished already, but by other code than is here ({PRE_LN}, torch 2.6.0);"
        " other_code=keep takes it as it is, other_code=retrain trains it afresh"
    )
    with pytest.raises(UserError, match="and 1 more; other_code=keep"):
        refuse_all_of_other_code([(cfg, folder), (cfg, RunFolder(folder.path))])


@pytest.mark.parametrize(("choice", "afresh"), [("keep", False), ("retrain", True)])
def test_the_user_chooses_what_becomes_of_it(finished, choice, afresh):
    cfg, folder = finished
    cfg.other_code = choice
    assert not is_trained_afresh(cfg, folder), "it is of this code"
    recorded(folder, code={})
    assert is_trained_afresh(cfg, folder) is afresh
    refuse_other_code(cfg, folder)
    assert refuse_all_of_other_code([(cfg, folder)]).startswith(f"other_code={choice}: {folder.name} finished already")


def test_a_run_that_has_trained_nothing_is_of_no_code(finished):
    cfg, folder = finished
    recorded(folder, code={})
    folder.set_status("failed")
    assert changes(cfg, folder) == ""


def test_records_without_digests_are_compared_by_commit(finished, monkeypatch):
    cfg, folder = finished
    files = {PRE_LN, "plugin/placements/post_ln.py", "results/write.py"}
    monkeypatch.setattr(code, "_changed_files", {"a" * 40: frozenset(files), "b" * 40: None}.get)

    def said(git):
        folder.write_environment({"git": git})
        return changes(cfg, folder)

    assert said({"commit": "a" * 40, "dirty": False}) == PRE_LN, "the others decide nothing here"
    assert said({"commit": "a" * 40, "dirty": True}) == "lnexp at commit aaaaaaaaaa, with changes"
    assert said({"commit": "b" * 40, "dirty": False}) == "lnexp at commit bbbbbbbbbb", "git does not know it"
    assert said({"commit": None}) == said({}) == code.UNRECORDED


@pytest.mark.parametrize("state", ["running", "finished"])
def test_a_run_whose_record_is_lost_is_refused(finished, state):
    cfg, folder = finished
    folder.checkpoints.mkdir()
    torch.save({}, folder.saved.of_epoch(1))
    folder.set_status(state)
    folder.write_environment({})
    with pytest.raises(UserError, match="by code that no record names; other_code=keep takes it as it is"):
        refuse_other_code(cfg, folder)


def test_git_says_which_files_changed_since_a_commit():
    here = git_state()["commit"]
    changed = subprocess.run(
        ["git", "-C", str(code.PACKAGE), "status", "--porcelain", "--untracked-files=no", "--", "."],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert len(code._changed_files(here)) == len(changed)
    assert code._changed_files("0" * 40) is None
    assert code._changed_files("--no-such-option") is None


@pytest.mark.parametrize(
    ("force", "other_code", "again"), [(False, "refuse", False), (False, "retrain", True), (True, "keep", True)]
)
def test_runs_that_are_trained_again_are_whole_at_the_end_alone(force, other_code, again):
    assert may_train_again(OmegaConf.create({"force": force, "other_code": other_code})) is again

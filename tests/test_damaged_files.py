"""Every command reads every kind of file, whatever somebody or something did to it."""

import errno
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from damage import Damage, damages_of
from damaged_world import KINDS, Guard, World, build, commands
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

#: Of the damages that there are, so many are tried, the same ones each time.
EXAMPLES = 100


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        quicken(patch, root)
        yield build(root, tmp_path_factory.mktemp("aside"), Guard(root))


def quicken(patch: pytest.MonkeyPatch, root: Path) -> None:
    """Leave out what takes time and reads none of the files: pixels, recipes that were not run, the training itself."""
    for name in ("LNEXP_FIRST_PROCESS", "HYDRA_FULL_ERROR"):
        patch.setenv(name, "")  # what commands set is forgotten after the test
    patch.setattr("lnexp.recipes.load.RECIPES_DIR", root / "recipes")
    for place in ("lnexp.figures.folder", "lnexp.results.writing.write_set"):
        patch.setattr(f"{place}.draw", lambda *_: None)
    patch.setattr("lnexp.training.run._train", lambda *_, **__: None)


@pytest.mark.slow
def test_without_damage_every_command_does_its_work(world):
    each = {(command, said): kind for kind, of_kind in commands(world).items() for command, said in of_kind.items()}
    for (command, arguments), kind in each.items():
        with world.damaged(kind, lambda path: None):
            ended = world.run(command, *arguments)
        assert ended.faults == []
        if command != "translate":  # there is no model in the checkpoint
            assert ended.status == 0, (command, ended.err)


def test_one_bad_folder_of_results_hides_no_other(world):
    with world.damaged("verdicts.json", lambda path: path.write_text("{")):
        ended = world.run("verify", "--json")
    assert ended.status == 1
    assert {"theory_lemma1"} <= {one["recipe"] for one in json.loads(ended.out)}
    assert "verdicts.json: malformed" in ended.err


@pytest.mark.slow
def test_a_finished_sweep_needs_no_folder_that_can_be_written(world, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("lnexp.runs.sweep.Sweep.save", refuse)
    arguments = commands(world)["status.json"]["train"]
    seeds = [word.replace("seed=21", "seed=21,22") for word in arguments]
    assert world.run("train", "-m", *seeds).status == 0
    unfinished = [word.replace("seed=21", "seed=21,23") for word in arguments]
    ended = world.run("train", "-m", *unfinished)
    assert (ended.status, ended.err) == (2, "error: Read-only file system\n")


@pytest.mark.parametrize("option", ["+recipe=../../x", "data.name=../x"])
def test_a_name_is_one_part_of_a_path(world, option):
    arguments = commands(world)["status.json"]["train"]
    ended = world.run("train", *arguments, option, *(["+arm=good"] if "recipe" in option else []))
    assert ended.status == 2
    assert "must be at most 100 letters, digits, - _ and ., and not begin with ." in ended.err
    assert ended.faults == []


@pytest.mark.slow
@settings(derandomize=True, max_examples=EXAMPLES, database=None, phases=[Phase.generate])
@given(data=st.data())
def test_damage_is_one_line_and_touches_nothing_else(world, data):
    kind = data.draw(st.sampled_from(KINDS))
    damages: dict[str, list[Damage]] = {}
    for damage in damages_of(world.files[kind]):
        damages.setdefault(damage.name, []).append(damage)
    damage = data.draw(st.sampled_from(damages[data.draw(st.sampled_from(list(damages)))]))
    command = data.draw(st.sampled_from(list(commands(world)[kind])))
    before = world.others(kind)
    with world.damaged(kind, damage.apply):
        ended = world.run(command, *commands(world)[kind][command])
        assert ended.faults == []
        assert world.others(kind) == before
        check_ending(kind, command, damage, ended)


def check_ending(kind, command, damage, ended) -> None:
    """One bad run is one line; the others are shown and collected."""
    of_one_run = (
        "metrics.jsonl", "status.json", "environment.json", "config.yaml", "hypotheses", "checkpoint", "log",
        "hidden file",
    )  # fmt: skip
    if kind in of_one_run and command in ("status", "collect", "collect a set", "report", "wandb_sync"):
        assert ended.status == 0, ended.err
        if command.startswith("collect"):
            assert "4 of 4 runs are over" in ended.out or "3 of 4" in ended.out or "3 of 3" in ended.out
    if damage.name in ("a folder", "a pipe", "noise") and (kind, command) in MUST_FAIL:
        assert ended.status == MUST_FAIL[kind, command], ended.out


#: The exit status where a file is none at all, and the command is about that file.
MUST_FAIL = {
    ("metrics.jsonl", "show"): 2,
    ("status.json", "show"): 2,
    ("environment.json", "show"): 2,
    ("config.yaml", "show"): 2,
    ("config.yaml", "translate"): 2,
    ("status.json", "train"): 2,
    ("hypotheses", "bootstrap"): 2,
    ("sweep", "status"): 2,
    ("recipe", "collect"): 2,
    ("recipe", "verify"): 2,
    ("verdicts.json", "verify"): 1,
    ("verdicts.json", "judge"): 2,
    ("verdicts.json", "power"): 2,
    ("runs.csv", "verify"): 1,
    ("epochs.csv", "verify"): 1,
    ("measurements.csv", "verify"): 1,
    ("runs.csv", "figures"): 2,
    ("manifest", "prepare_data"): 2,
    ("dictionary", "prepare_data"): 2,
    ("index", "prepare_data"): 2,
}

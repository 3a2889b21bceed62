"""The folder of all offline runs has links that hold wherever the runs are moved together, and none to nothing."""

import shutil

from lnexp.runs.folder import find_folders
from lnexp.tracking.offline_runs import ALL, link_offline_run


def offline_run(runs_dir, time: str, identity: str = "0123abcd"):
    folder = runs_dir / "adhoc" / f"run-{identity}" / "wandb" / f"offline-run-{time}-{identity}"
    folder.mkdir(parents=True)
    return folder


def test_links_hold_when_the_runs_are_moved(tmp_path):
    runs = tmp_path / "runs"
    for identity in ("0123abcd", "4567abcd"):
        link_offline_run(offline_run(runs, "1", identity), runs)
    moved = runs.rename(tmp_path / "elsewhere")
    assert sorted(link.resolve().parent.parent.name for link in (moved / ALL).iterdir()) == [
        "run-0123abcd",
        "run-4567abcd",
    ]


def test_a_run_that_begins_again_takes_the_place_of_what_is_gone(tmp_path):
    first = offline_run(tmp_path, "1")
    link_offline_run(first, tmp_path)
    shutil.rmtree(first)
    link_offline_run(offline_run(tmp_path, "2"), tmp_path)
    assert [link.name for link in (tmp_path / ALL).iterdir()] == ["offline-run-2-0123abcd"]


def test_the_folder_is_none_of_a_run(tmp_path):
    link_offline_run(offline_run(tmp_path, "1"), tmp_path)
    assert list(find_folders(tmp_path)) == ["0123abcd"]


def test_without_links_on_the_disk_nothing_is_lost(tmp_path):
    (tmp_path / ALL).write_text("no folder")
    link_offline_run(offline_run(tmp_path, "1"), tmp_path)

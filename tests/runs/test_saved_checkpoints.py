"""The checkpoint files of a run."""

from helpers import cut_short, make_whole

from lnexp.runs.checksum import write_checksum


def test_the_newest_checkpoint_is_the_highest_epoch(folder):
    assert folder.saved.last_epoch() == 0
    for name in ("checkpoint2.pt", "checkpoint10.pt", "checkpoint_best.pt", "crash.pt", "checkpoint11.pt.tmp"):
        make_whole(folder.checkpoints / name)
    assert folder.saved.last_epoch() == 10


def test_a_checkpoint_that_was_cut_short_is_none(folder):
    for epoch in (1, 2):
        make_whole(folder.saved.of_epoch(epoch))
    cut_short(folder.saved.of_epoch(2))
    assert folder.saved.epochs() == [1]
    folder.saved.mend()
    assert sorted(path.name for path in folder.checkpoints.iterdir()) == ["checkpoint1.pt", "checkpoint1.pt.sha256"]


def test_one_that_a_kill_left_without_a_checksum_gets_it(folder):
    make_whole(folder.saved.of_epoch(1))
    make_whole(folder.saved.within(2, 70))
    assert folder.saved.mend() == []
    for checkpoint in (folder.saved.of_epoch(1), folder.saved.within(2, 70)):
        checkpoint.write_bytes(checkpoint.read_bytes().replace(b"nothing", b"nothong"))
    assert folder.saved.mend() == [folder.saved.of_epoch(1), folder.saved.within(2, 70)], "damage is noticed"


def test_a_checkpoint_that_is_not_what_was_saved_is_dropped_for_the_one_before(folder):
    for epoch in (1, 2):
        make_whole(folder.saved.of_epoch(epoch))
        write_checksum(folder.saved.of_epoch(epoch))
    folder.saved.of_epoch(2).write_bytes(folder.saved.of_epoch(2).read_bytes().replace(b"nothing", b"nothong"))
    assert folder.saved.newest() == folder.saved.of_epoch(2), "an archive still"
    assert folder.saved.mend() == [folder.saved.of_epoch(2)]
    assert folder.saved.newest() == folder.saved.of_epoch(1)
    assert sorted(path.name for path in folder.checkpoints.iterdir()) == ["checkpoint1.pt", "checkpoint1.pt.sha256"]
    folder.saved.of_epoch(1).unlink()
    folder.saved.mend()
    assert list(folder.checkpoints.iterdir()) == []

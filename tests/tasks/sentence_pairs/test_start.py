"""A fine-tuning run's identity has its start; a start that is missing, damaged or foreign is refused in one line."""

import pytest
from helpers import TINY_ENCODER, cut_short, make_whole

from lnexp.configuration import check_and_resolve, compose
from lnexp.errors import UserError
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe
from lnexp.runs.folder import RunFolder
from lnexp.runs.identity import identities, identity
from lnexp.tasks import task_of
from lnexp.tasks.contract import Start

SIZE = ["data=bert_toy", "scale.toy={train_pairs: 60, valid_pairs: 10, test_pairs: 10}"]


def tuned(*overrides):
    return compose(["task=sentence_pairs", *SIZE, *TINY_ENCODER, *overrides])


@pytest.fixture
def pretrained(tmp_path) -> RunFolder:
    """The folder of a run of ``masked_lm`` with checkpoints of epochs 1 and 3, as far as names and settings go."""
    cfg = check_and_resolve(compose(["task=masked_lm", *SIZE, *TINY_ENCODER, f"runs_dir={tmp_path / 'runs'}"]))
    folder = RunFolder.of(cfg)
    folder.checkpoints.mkdir(parents=True)
    folder.write_config(cfg)
    for epoch in (1, 3):
        make_whole(folder.saved.of_epoch(epoch))
    return folder


def start_of(folder, *overrides):
    where = [f"runs_dir={folder.path.parents[1]}", f"start.run={folder.identity}"]
    cfg = check_and_resolve(tuned(*where, *overrides))
    return task_of(cfg).start_checkpoint(cfg)


def test_the_start_is_part_of_the_identity_and_its_place_is_not():
    plain = identity(tuned("start.run=1a2b3c4d", "start.epoch=3"))
    assert plain == identity(tuned("start.run=1a2b3c4d", "start.epoch=3", "runs_dir=elsewhere", "start.recipe=fig5"))
    others = [("start.run=1a2b3c4e", "start.epoch=3"), ("start.run=1a2b3c4d", "start.epoch=2"), ("start.epoch=0",)]
    assert len({plain, *(identity(tuned(*other)) for other in others)}) == 4


def test_a_recipe_an_arm_and_a_seed_name_the_run_to_start_from():
    arm = load_recipe("fig5").arms["pre_ln_high"]
    sizes = ["data=bert_toy", "scale.toy.valid_pairs=500", "scale.toy.train_pairs=70"]

    def start(cfg):
        return task_of(cfg).start(check_and_resolve(cfg))

    cfg = compose(["task=sentence_pairs", *sizes, "start.recipe=fig5", "start.arm=pre_ln_high", "start.epoch=2"])
    for seed in (5, 6):
        cfg.seed = seed
        job = Job(load_recipe("fig5"), "small", arm, seed)
        said = compose(["profile=small", "scale.toy.train_pairs=70", "data=bert_toy", *job.overrides])
        assert start(cfg.copy()) == Start(identity(said), 2)
    assert len(set(identities(cfg, [5, 6]))) == 2
    fixed = compose(
        [*sizes, "task=sentence_pairs", "start.recipe=fig5", "start.arm=pre_ln_high", "start.epoch=2", "start.seed=6"]
    )
    assert start(fixed) == start(cfg.copy())


def test_an_unknown_arm_is_named():
    cfg = compose(["task=sentence_pairs", *SIZE, "start.recipe=fig5", "start.arm=pre_ln_hihg", "start.epoch=1"])
    with pytest.raises(Exception, match=r"start\.arm=pre_ln_hihg: recipe fig5 has none; did you mean pre_ln_high"):
        check_and_resolve(cfg)


def test_a_run_from_scratch_says_so(pretrained):
    assert start_of(pretrained, "start.epoch=0") is None
    for said, option in ((["start.run=1a2b3c4d"], "start.epoch"), (["start.epoch=1"], "start.run")):
        cfg = check_and_resolve(tuned(*said))
        with pytest.raises(UserError, match=f"{option}: not set"):
            task_of(cfg).start_checkpoint(cfg)


def test_the_checkpoint_of_the_run_is_found(pretrained):
    assert start_of(pretrained, "start.epoch=3") == pretrained.saved.of_epoch(3)
    assert start_of(pretrained, "start.epoch=1", "model.dropout=0.1") == pretrained.saved.of_epoch(1)


def test_a_run_older_than_an_option_of_the_model_is_no_foreign_one(pretrained):
    config = pretrained.path / "config.yaml"
    lines = config.read_text().splitlines(keepends=True)
    config.write_text("".join(line for line in lines if "qk_norm" not in line))
    assert config.read_text().count("\n") < len(lines)
    assert start_of(pretrained, "start.epoch=3") == pretrained.saved.of_epoch(3)
    with pytest.raises(UserError, match=r"has model\.qk_norm=False, and this run True"):
        start_of(pretrained, "start.epoch=3", "qk_norm=true")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["start.epoch=2"], r"start.epoch=2: .* has no checkpoint of that epoch \(it has: 1, 3\)"),
        (["start.epoch=1", "start.run=1a2b3c4d"], "start.run=1a2b3c4d: no such run"),
        (["start.epoch=1", "model=pre_ln"], "has model._name=lnexp_post_ln, and this run lnexp_pre_ln"),
        (["start.epoch=1", "model.encoder_layers=2"], "has model.encoder_layers=1, and this run 2"),
        (["start.epoch=1", "scale.toy.train_pairs=61"], "was trained on other text or subwords than data=bert_toy has"),
    ],
)
def test_what_is_missing_or_foreign_is_refused_in_a_line(pretrained, overrides, said):
    with pytest.raises(UserError, match=said) as refused:
        start_of(pretrained, *overrides)
    assert "\n" not in str(refused.value)


def test_a_run_that_is_fine_tuned_already_is_refused(pretrained):
    """Its encoder has the same parameters, and they are not those of pre-training."""
    cfg = check_and_resolve(
        tuned(f"runs_dir={pretrained.path.parents[1]}", f"start.run={pretrained.identity}", "start.epoch=3")
    )
    folder = RunFolder.of(cfg)
    folder.checkpoints.mkdir(parents=True)
    folder.write_config(cfg)
    make_whole(folder.saved.of_epoch(1))
    with pytest.raises(UserError, match="is a run of task=sentence_pairs; a run starts from one of task=masked_lm"):
        start_of(folder, "start.epoch=1")


def test_a_damaged_checkpoint_is_refused(pretrained):
    cut_short(pretrained.saved.of_epoch(3))
    with pytest.raises(UserError, match=r"no checkpoint of that epoch \(it has: 1\)"):
        start_of(pretrained, "start.epoch=3")
    pretrained.saved.of_epoch(1).with_name("checkpoint1.pt.sha256").write_text("0  checkpoint1.pt\n")
    with pytest.raises(UserError, match="is not what was saved"):
        start_of(pretrained, "start.epoch=1")

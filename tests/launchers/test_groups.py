"""Runs that can be one array, and no others, come together."""

import pytest
from helpers import TINY, cut_short, make_whole
from omegaconf import OmegaConf

from lnexp.configuration import compose
from lnexp.launchers.array_launcher import evened_out, group, why_alone
from lnexp.runs.folder import RunFolder


@pytest.fixture
def config(where):
    return lambda *overrides: compose([*TINY, *where, *overrides])


def saved(cfg, *epochs: int) -> RunFolder:
    """Give a run checkpoints of these epochs; its folder."""
    resolved = cfg.copy()
    OmegaConf.resolve(resolved)
    folder = RunFolder.of(resolved)
    folder.checkpoints.mkdir(parents=True)
    for epoch in epochs:
        make_whole(folder.saved.of_epoch(epoch))
    return folder


def test_optimizer_schedule_rate_and_warmup_may_differ(config):
    cfgs = [
        config("lr_max=1e-3"),
        config("optimizer=sgd", "lr_schedule=constant"),
        config("optimizer=radam", "lr_schedule=linear", "warmup_updates=7"),
        config("+recipe=fig2a", "+arm=warmup_low", "optimizer.eps=1e-6"),
    ]
    assert group(cfgs, 16) == [[0, 1, 2, 3]]


@pytest.mark.parametrize(
    "override",
    ["model=pre_ln", "model.dropout=0.1", "max_tokens=100", "label_smoothing=0", "init=paper", "seed=2", "max_epoch=2"],
)
def test_what_decides_shapes_batches_or_length_may_not(config, override):
    assert group([config(), config(override), config("lr_max=1")], 16) == [[0, 2], [1]]


def test_seeds_share_an_array_where_the_order_of_the_data_is_one(config):
    assert group([config("seed=1", "order_seed=5"), config("seed=2", "order_seed=5"), config("seed=5")], 16) == [
        [0, 1, 2]
    ]


@pytest.mark.slow
def test_a_group_has_at_most_so_many(config):
    cfgs = [config(f"lr_max={rate}") for rate in range(1, 6)]
    assert group(cfgs, 2) == [[0, 1], [2, 3], [4]]


def test_runs_at_different_epochs_are_apart(config):
    cfgs = [config(f"lr_max={rate}") for rate in range(1, 5)]
    saved(cfgs[1], 3)
    saved(cfgs[3], 2, 3)
    assert group(cfgs, 16) == [[0, 2], [1, 3]]


def test_after_a_kill_between_two_checkpoints_an_array_comes_together_again(config):
    cfgs = [config(f"lr_max={rate}") for rate in range(1, 4)]
    for cfg, epochs in zip(cfgs, [(2, 3), (2, 3), (2,)], strict=True):
        saved(cfg, *epochs)
    assert group(cfgs, 16) == [[0, 1, 2]]


def test_what_is_trained_afresh_has_no_epoch(config):
    cfgs = [config("force=true"), config("lr_max=1", "force=true")]
    saved(cfgs[0], 3)
    assert group(cfgs, 16) == [[0, 1]]


def test_a_run_whose_checkpoint_is_cut_short_holds_nobody_back(config):
    cfgs = [config(f"lr_max={rate}") for rate in range(1, 4)]
    for cfg in cfgs:
        folder = saved(cfg, 3)
    cut_short(folder.saved.of_epoch(3))
    assert group(cfgs, 16) == [[2], [0, 1]]


def test_runs_that_no_array_can_join_are_named_with_the_reason():
    seeds = [compose([f"seed={seed}"]) for seed in (1, 2)]
    assert why_alone(seeds, 4) == (
        "warning: 2 of 2 runs train alone, not in an array: each seed has an order of the data of its own; order_seed=1"
        " gives all one order"
    )
    assert why_alone([compose([f"seed={seed}", "order_seed=1"]) for seed in (1, 2)], 4) == ""
    shapes = [compose([f"model.encoder_layers={layers}"]) for layers in (1, 2)]
    assert why_alone(shapes, 4).endswith("not in an array: no other run has the same shapes, data and start")
    assert why_alone(shapes[:1], 4) == why_alone(shapes, 1) == ""


@pytest.mark.parametrize(
    ("sizes", "processes", "expected"),
    [
        ([4, 4, 4], 2, [4, 4, 2, 2]),
        ([4, 4], 2, [4, 4]),
        ([3], 4, [2, 1]),
        ([4, 4, 1], 2, [4, 4, 1]),
        ([4, 1, 1], 2, [4, 1, 1]),
        ([4, 4, 4], 4, [4, 4, 2, 2]),
        ([4, 4, 4, 4, 4], 4, [4, 4, 2, 2, 2, 2, 2, 2]),
    ],
)
def test_the_last_groups_of_a_recipe_are_shared_among_processes(sizes, processes, expected):
    numbers = iter(range(100))
    groups = [{next(numbers): {"recipe": "first"} for _ in range(size)} for size in sizes]
    found = evened_out(list(reversed(groups)), processes)
    assert [len(members) for members in found] == expected
    assert [number for members in found for number in members] == list(range(sum(sizes)))


def test_large_groups_of_a_recipe_come_first():
    """A process that begins with the last large one trains it while others wait."""
    sizes = {"one": [1, 2], "two": [2, 3, 2, 3]}
    numbers = iter(range(100))
    groups = [{next(numbers): {"recipe": name} for _ in range(size)} for name, of in sizes.items() for size in of]
    assert [len(members) for members in evened_out(groups, 2)] == [2, 1, 3, 3, 2, 2]
    assert [min(members) for members in evened_out(groups, 2)] == [1, 0, 5, 10, 3, 8]


def test_later_recipes_stay_in_whole_groups():
    groups = [{0: {"recipe": "one"}, 1: {"recipe": "one"}}, {2: {"recipe": "two"}, 3: {"recipe": "two"}}]
    assert [list(members) for members in evened_out(groups, 2)] == [[0], [1], [2, 3]]
    assert evened_out([{0: {}, 1: {}}, {2: {}}], 2) == [{0: {}, 1: {}}, {2: {}}], "a sweep without a recipe"

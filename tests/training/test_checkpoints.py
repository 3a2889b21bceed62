"""The average of checkpoints."""

import pytest
import torch

from lnexp.training.checkpoints import averaged_model

#: As much of a checkpoint's config as is looked at before it is loaded.
CONFIG = {
    "model": {"_name": "lnexp_post_ln"}, "task": {"_name": "lnexp_translation"},
    "criterion": {"_name": "label_smoothed_cross_entropy"},
}  # fmt: skip


def save(path, model: dict) -> None:
    history = [{"num_updates": 1, "criterion_name": "", "lr_scheduler_state": {}}]
    extra = {"train_iterator": {"epoch": 1}}
    state = {"args": None, "cfg": CONFIG, "optimizer_history": history, "extra_state": extra}
    torch.save(state | {"model": model, "last_optimizer_state": None}, path)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_parameters_are_means_and_the_rest_is_the_last_ones(tmp_path, dtype):
    torch.manual_seed(0)
    paths = [tmp_path / f"{number}.pt" for number in range(3)]
    weights = [torch.randn(4, 5).to(dtype) for _ in paths]
    for number, (path, weight) in enumerate(zip(paths, weights, strict=True)):
        save(path, {"weight": weight, "version": torch.tensor(number)})
    average = averaged_model(paths)
    assert average["weight"].dtype == dtype
    torch.testing.assert_close(average["weight"], torch.stack(weights).float().mean(0).to(dtype))
    assert average["version"] == 2


def test_one_checkpoint_is_its_own_average(tmp_path):
    weight = torch.randn(3) * 1e-20
    save(tmp_path / "1.pt", {"weight": weight})
    assert torch.equal(averaged_model([tmp_path / "1.pt"])["weight"], weight)

"""Stock fairseq trains what it is compared with, in the same precision."""

import math

import pytest
from helpers import TINY

from lnexp.benchmarks.stock import stock_config, stock_trainer
from lnexp.configuration import check_and_resolve, compose
from lnexp.corpora.prepare import prepare


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_stock_fairseq_trains_in_the_precision_of_the_config(prepared, precision):
    cfg = check_and_resolve(compose([*TINY, f"data_dir={prepared}", f"precision={precision}", "max_tokens=100"]))
    stock = stock_trainer(stock_config(cfg, prepare(cfg.data, cfg.data_dir), "post_ln"))
    rate = stock.updates(2)
    types = {str(parameter.dtype).removeprefix("torch.") for parameter in stock.trainer.model.parameters()}
    assert types == {"float32" if precision == "fp32" else "bfloat16"}
    assert stock.trainer.get_num_updates() == 2
    assert rate > 0
    assert all(math.isfinite(parameter.float().sum().item()) for parameter in stock.trainer.model.parameters())

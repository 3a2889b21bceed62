"""Batches are planned where training can make them."""

import pytest
from helpers import TINY

from lnexp.configuration import check_and_resolve, compose
from lnexp.errors import UserError
from lnexp.tasks import task_of


@pytest.mark.parametrize(
    "overrides", [("max_tokens=5",), ("task=masked_lm", "data=bert_toy", "blocks.tokens=8", "max_tokens=8")]
)
def test_an_example_that_fits_into_no_batch_is_named(prepared, overrides):
    tiny = [option for option in TINY if not overrides[1:] or not option.startswith(("model.decoder", "evaluation."))]
    cfg = check_and_resolve(compose([*tiny, *overrides, f"data_dir={prepared}"]))
    with pytest.raises(UserError, match=rf"^{overrides[-1]}: (toy|bert_toy) has an example of \d+ tokens$"):
        task_of(cfg).work(cfg)

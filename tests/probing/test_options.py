"""What an option of a probe sets."""

import pytest

from lnexp.errors import UserError
from lnexp.probing.options import check_options, part_of


@pytest.mark.parametrize(
    ("option", "part"),
    [
        ("data=plain", "corpus"),
        ("++data.path=/x=y", "corpus"),
        ("data.name=mine", "corpus"),
        ("data.subword.model=/x", "corpus"),
        ("scale.toy.train_pairs=3", "corpus"),
        ("n_seeds=2", "seeds"),
        ("order_seed=2", "minibatches"),
        ("lr_max=1", None),
        ("scale.lr_max.low=1", None),
        ("checkpoint=x.pt", None),
    ],
)
def test_an_option_sets_what_its_group_sets(option, part):
    assert part_of(option) == part


def test_what_does_not_apply_is_refused_with_what_does():
    with pytest.raises(UserError, match=r"^lr_max=1: not here; allowed are n_seeds=…, first_seed=…$"):
        check_options(["n_seeds=1", "lr_max=1"], ["seeds"], "not here")

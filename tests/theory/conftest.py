"""What measurements on a small corpus are given."""

import pytest

from lnexp.theory.measurement import Context

TOY = "scale.toy={train_pairs: 60, valid_pairs: 5, test_pairs: 5}"


@pytest.fixture
def context(prepared) -> Context:
    """A seed and the toy corpus at a size of some minibatches."""
    return Context(3, ["data=toy", TOY, f"data_dir={prepared}"])

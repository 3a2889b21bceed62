"""Sharpness is the largest eigenvalue of the Hessian, and measuring it leaves the model as it was."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator, eigsh

from lnexp.training.diagnostics.sharpness import Sharpness, largest_eigenvalue


def _exact(one_update) -> float:
    """The largest eigenvalue by ARPACK, with products of the Hessian by differentiating twice."""
    model = one_update.model.eval()
    parameters = list(model.parameters())
    loss, tokens, _ = one_update.criterion(model, one_update.batch)
    gradients = torch.autograd.grad(loss / tokens, parameters, create_graph=True)
    gradient = torch.cat([one.flatten() for one in gradients])

    def product(direction: np.ndarray) -> np.ndarray:
        along = gradient @ torch.from_numpy(direction.astype(np.float32)).flatten()
        return torch.cat([one.flatten() for one in torch.autograd.grad(along, parameters, retain_graph=True)]).numpy()

    hessian = LinearOperator((len(gradient), len(gradient)), matvec=product, dtype=np.float32)
    (found,) = eigsh(hessian, k=1, which="LA", tol=1e-4, return_eigenvectors=False)
    model.train()
    return float(found)


def _watched(one_update, iterations: int) -> Sharpness:
    return Sharpness(dataclasses.replace(one_update.watched, products=iterations))


def _found(watching: Sharpness) -> dict[str, torch.Tensor]:
    watching.begin()
    return watching.end()


def test_it_is_the_largest_eigenvalue_of_the_hessian(one_update):
    (found,) = _found(_watched(one_update, 20))["sharpness.loss"].tolist()
    assert found == pytest.approx(_exact(one_update), rel=0.02)
    assert found > 0.1


def test_the_model_is_left_as_it_was(one_update):
    before = {name: one.clone() for name, one in one_update.model.state_dict().items()}
    drawn = torch.get_rng_state()
    _found(_watched(one_update, 3))
    assert one_update.model.training
    assert torch.equal(torch.get_rng_state(), drawn)
    assert all(one.grad is None for one in one_update.model.parameters())
    assert all(torch.equal(one, before[name]) for name, one in one_update.model.state_dict().items())


def test_it_is_measured_where_it_is_asked_for_alone(one_update):
    assert _found(_watched(one_update, 0)) == {}
    one_update.model.bfloat16()
    assert _found(_watched(one_update, 3)) == {}


def test_what_was_measured_is_of_one_update(one_update):
    watching = _watched(one_update, 2)
    assert _found(watching)
    assert watching.end() == {}


@given(st.integers(1, 3), st.integers(2, 12), st.integers(0, 10_000))
@settings(max_examples=30)
def test_the_eigenvalue_is_that_of_each_matrix(count, size, seed):
    generator = torch.Generator().manual_seed(seed)
    matrices = torch.randn(count, size, size, generator=generator, dtype=torch.float64)
    matrices = matrices + matrices.transpose(1, 2)
    start = torch.randn(count, size, generator=generator, dtype=torch.float64)
    found = largest_eigenvalue(lambda rows: torch.einsum("snm,sm->sn", matrices, rows), start, size)
    torch.testing.assert_close(found, torch.linalg.eigvalsh(matrices)[:, -1])


def test_one_matrix_that_is_not_finite_spoils_no_other():
    diagonals = torch.tensor([[1.0, 2.0, 3.0], [1.0, math.nan, 3.0]], dtype=torch.float64)
    found = largest_eigenvalue(lambda rows: diagonals * rows, torch.ones_like(diagonals), 3)
    assert found[0] == pytest.approx(3)
    assert found[1].isnan()

"""On request oneDNN computes the products of updates, in fp32."""

from contextlib import nullcontext

import pytest
import torch

from lnexp.configuration import check_device, compose
from lnexp.errors import UserError
from lnexp.results.evidence.made_with import differences
from lnexp.runs.environment import environment, instructions
from lnexp.torch_variables import MATMUL
from lnexp.training import matrix_products
from lnexp.training.matrix_products import by_onednn, onednn_is_exact, products

#: How torch says that oneDNN may compute products, and that MKL does.
ONEDNN, MKL = "medium", "highest"

with_onednn = pytest.mark.skipif(instructions() != "AVX512" or not onednn_is_exact(), reason="torch has MKL, or rounds")


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch):
    monkeypatch.delenv(MATMUL, raising=False)
    onednn_is_exact.cache_clear()
    yield
    onednn_is_exact.cache_clear()


@pytest.fixture
def asked(monkeypatch):
    monkeypatch.setenv(MATMUL, "onednn")


@pytest.fixture
def exact(monkeypatch):
    """Any CPU, as if it had AVX-512; it may round the numbers of a test."""
    monkeypatch.setattr(matrix_products, "instructions", lambda: "AVX512")
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    monkeypatch.setattr(matrix_products, "onednn_is_exact", lambda: True)


def in_bf16(number: torch.Tensor) -> torch.Tensor:
    return number.bfloat16().to(torch.float32)


def in_two_of_bf16(number: torch.Tensor) -> torch.Tensor:
    return in_bf16(number) + in_bf16(number - in_bf16(number))


def test_it_is_done_on_request_and_on_a_cpu_alone(monkeypatch, exact):
    assert products(cuda=False) is nullcontext
    monkeypatch.setenv(MATMUL, "onednn")
    assert products(cuda=False) is by_onednn
    assert products(cuda=True) is nullcontext, "a GPU would round to TF32"


def test_another_value_is_refused(monkeypatch):
    monkeypatch.setenv(MATMUL, "mkl")
    for refuse in (lambda: products(cuda=False), lambda: check_device(compose([]))):
        with pytest.raises(UserError, match=rf"^{MATMUL}=mkl: is onednn, or unset for torch's default$"):
            refuse()


def test_a_cpu_for_which_torch_has_no_onednn_is_refused(monkeypatch, exact, asked):
    monkeypatch.setattr(matrix_products, "instructions", lambda: "AVX2")
    with pytest.raises(UserError, match=rf"^{MATMUL}=onednn: on this CPU torch does not turn to oneDNN"):
        products(cuda=False)


def test_a_cpu_on_which_onednn_rounds_more_is_refused(monkeypatch, exact, asked):
    monkeypatch.setattr(matrix_products, "onednn_is_exact", lambda: False)
    with pytest.raises(UserError, match=rf"^{MATMUL}=onednn: computes products of fp32 in bf16 on this CPU; unset it$"):
        products(cuda=False)
    assert products(cuda=True) is nullcontext


@pytest.mark.parametrize("rounded", [in_bf16, in_two_of_bf16])
def test_a_kernel_that_rounds_its_factors_is_not_exact(monkeypatch, rounded):
    monkeypatch.setattr(matrix_products, "by_onednn", nullcontext)
    assert onednn_is_exact(), "MKL"
    onednn_is_exact.cache_clear()
    monkeypatch.setattr(torch.Tensor, "float", rounded)
    assert not onednn_is_exact()


@with_onednn
def test_products_of_any_numbers_are_of_fp32(asked):
    drawn = torch.Generator().manual_seed(2)
    left, right = (torch.randn(shape, generator=drawn) for shape in ((8, 300, 64), (8, 64, 100)))
    product, size = left.double() @ right.double(), left.double().abs() @ right.double().abs()
    with products(cuda=False)():
        error = (left @ right - product).abs()
    assert (error <= 64 * torch.finfo(torch.float32).eps * size).all()


@with_onednn
def test_onednn_computes_products_within_and_mkl_without(capfd):
    left, right = torch.ones(8, 64, 64), torch.ones(8, 64, 64)
    with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON):
        left @ right
        assert "matmul" not in capfd.readouterr().out
        with by_onednn():
            left @ right
        assert "matmul" in capfd.readouterr().out


def test_products_are_mkls_again_afterwards():
    within = []

    def fail() -> None:
        within.append(torch.get_float32_matmul_precision())
        raise ArithmeticError

    with pytest.raises(ArithmeticError), by_onednn():
        fail()
    assert within == [ONEDNN]
    assert torch.get_float32_matmul_precision() == MKL


@pytest.mark.parametrize("members", [1, 2])
def test_updates_alone_take_it(exact, asked, build, members):
    engine = build(*[("max_epoch=1", f"seed={member + 1}") for member in range(members)], array=members > 1)
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    engine.model.encoder.register_forward_hook(
        lambda module, *_: seen[module.training].add(torch.get_float32_matmul_precision())
    )
    engine.train(lambda member, record: None)
    assert seen == {True: {ONEDNN}, False: {MKL}}


def test_a_run_records_it(asked):
    recorded = environment("cpu", {})
    assert recorded["kernels"] == {MATMUL: "onednn"}
    unasked = {key: value for key, value in recorded.items() if key != "kernels"}
    assert differences([recorded, unasked]) == "kernels (`LNEXP_MATMUL=onednn`; torch's own)"

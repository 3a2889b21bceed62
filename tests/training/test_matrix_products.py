"""Updates that are wide enough have their products computed by oneDNN, in fp32, where that is faster."""

from contextlib import nullcontext

import pytest
import torch

from lnexp.training import matrix_products
from lnexp.training.matrix_products import WIDE, by_onednn, onednn_is_exact, products

#: Of a CPU that the products are computed by oneDNN on, if it is as exact.
AMD = {"cpu_name": lambda: "AMD EPYC", "instructions": lambda: "AVX512", "onednn_is_exact": lambda: True}
#: How torch says that oneDNN computes products, and that MKL does.
ONEDNN, MKL = "medium", "highest"


@pytest.fixture
def on(monkeypatch):
    """Return a function that puts us on AMD's CPU with AVX-512, but for what its arguments say."""

    def put(**other) -> None:
        for name, said in {**AMD, **other}.items():
            monkeypatch.setattr(matrix_products, name, said)
        matrix_products._onednn_is_better.cache_clear()

    yield put
    matrix_products._onednn_is_better.cache_clear()


def test_products_are_of_fp32_on_this_cpu():
    drawn = torch.Generator().manual_seed(2)
    left, right = (torch.randn(shape, generator=drawn) for shape in ((8, 300, 64), (8, 64, 100)))
    exact, size = left.double() @ right.double(), left.double().abs() @ right.double().abs()
    with products(WIDE, cuda=False)():
        error = (left @ right - exact).abs()
    assert (error <= 64 * torch.finfo(torch.float32).eps * size).all()


def test_where_onednn_is_faster_wide_updates_take_it(on):
    on()
    assert products(WIDE, cuda=False) is by_onednn
    assert products(WIDE - 1, cuda=False) is nullcontext, "its calls cost more than they save"
    assert products(WIDE, cuda=True) is nullcontext, "a GPU would round to TF32"


@pytest.mark.parametrize(
    "other",
    [
        {"cpu_name": lambda: "Intel(R) Xeon(R) Platinum 8480+"},
        {"instructions": lambda: "AVX2"},
        {"onednn_is_exact": lambda: False},
    ],
    ids=["intel", "avx2", "rounds"],
)
def test_elsewhere_mkl_computes_products(on, other):
    on(**other)
    assert products(WIDE, cuda=False) is nullcontext


def test_a_kernel_that_rounds_to_bf16_is_not_exact(monkeypatch):
    monkeypatch.setattr(matrix_products, "by_onednn", nullcontext)
    assert onednn_is_exact(), "MKL"
    monkeypatch.setattr(matrix_products, "by_onednn", lambda: torch.autocast("cpu", torch.bfloat16))
    assert not onednn_is_exact()


def test_products_are_mkls_again_afterwards():
    within = []

    def fail() -> None:
        within.append(torch.get_float32_matmul_precision())
        raise ArithmeticError

    with pytest.raises(ArithmeticError), by_onednn():
        fail()
    assert within == [ONEDNN]
    assert torch.get_float32_matmul_precision() == MKL


@pytest.mark.parametrize(
    ("members", "width", "by"), [(1, WIDE, ONEDNN), (1, WIDE // 2, MKL), (2, WIDE // 2, ONEDNN)], ids=str
)
def test_updates_alone_take_it(on, build, members, width, by):
    on()
    own = ("max_epoch=1", f"model.encoder_embed_dim={width}", f"model.decoder_embed_dim={width}")
    engine = build(*[(*own, f"seed={member + 1}") for member in range(members)], array=members > 1)
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    engine.model.encoder.register_forward_hook(
        lambda module, *_: seen[module.training].add(torch.get_float32_matmul_precision())
    )
    engine.train(lambda member, record: None)
    assert seen == {True: {by}, False: {MKL}}

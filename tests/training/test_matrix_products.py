"""Updates that are wide enough have their products computed by oneDNN, in fp32, where that is faster."""

from contextlib import nullcontext

import pytest
import torch
from helpers import TINY

from lnexp.configuration import compose
from lnexp.runs.folder import RunFolder
from lnexp.training import matrix_products
from lnexp.training.matrix_products import WIDE, ZEN_5, by_onednn, onednn_is_exact, products
from lnexp.training.run import train_array

#: What makes oneDNN compute the products.
FASTER = {"cpu_family": lambda: ZEN_5, "instructions": lambda: "AVX512", "onednn_is_exact": lambda: True}
#: How torch says that oneDNN computes products, and that MKL does.
ONEDNN, MKL = "medium", "highest"


@pytest.fixture
def on(monkeypatch):
    """Return a function that puts us on a Zen 5, but for what its arguments say."""

    def put(**other) -> None:
        for name, said in {**FASTER, **other}.items():
            monkeypatch.setattr(matrix_products, name, said)
        matrix_products._onednn_is_better.cache_clear()

    yield put
    matrix_products._onednn_is_better.cache_clear()


def in_bf16(number: torch.Tensor) -> torch.Tensor:
    return number.bfloat16().to(torch.float32)


def in_two_of_bf16(number: torch.Tensor) -> torch.Tensor:
    return in_bf16(number) + in_bf16(number - in_bf16(number))


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
        {"cpu_family": lambda: ("GenuineIntel", "26")},
        {"cpu_family": lambda: ("AuthenticAMD", "25")},
        {"instructions": lambda: "AVX2"},
        {"onednn_is_exact": lambda: False},
    ],
    ids=["intel", "zen_4", "avx2", "rounds"],
)
def test_elsewhere_mkl_computes_products(on, other):
    on(**other)
    assert products(WIDE, cuda=False) is nullcontext


@pytest.mark.parametrize("rounded", [in_bf16, in_two_of_bf16])
def test_a_kernel_that_rounds_its_factors_is_not_exact(monkeypatch, rounded):
    monkeypatch.setattr(matrix_products, "by_onednn", nullcontext)
    assert onednn_is_exact(), "MKL"
    monkeypatch.setattr(torch.Tensor, "float", rounded)
    assert not onednn_is_exact()


@pytest.mark.skipif(not matrix_products._onednn_is_better(), reason="of a CPU on which oneDNN is faster")
def test_onednn_computes_products_within_and_mkl_without(capfd):
    left, right = torch.ones(8, 64, 64), torch.ones(8, 64, 64)
    with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON):
        left @ right
        assert "matmul" not in capfd.readouterr().out
        with by_onednn():
            left @ right
        assert "matmul" in capfd.readouterr().out


@pytest.mark.parametrize(("width", "named"), [(WIDE // 2, ["oneDNN"] * 2), (WIDE // 4, [None] * 2)])
def test_a_run_records_that_onednn_computed_them(on, where, width, named):
    on()
    own = ("max_tokens=200", "max_epoch=1", "order_seed=1", f"model.encoder_embed_dim={width}")
    cfgs = [compose([*TINY, *where, *own, f"model.decoder_embed_dim={width}", f"seed={seed}"]) for seed in (1, 2)]
    train_array(cfgs)
    assert [RunFolder.of(cfg).environment.get("products") for cfg in cfgs] == named


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

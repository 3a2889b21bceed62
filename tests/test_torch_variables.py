"""What of the environment decides how torch computes."""

import pytest
from helpers import run_script

from lnexp.configuration import check_device, compose
from lnexp.errors import UserError
from lnexp.runs.environment import environment
from lnexp.torch_variables import OF_KERNELS, OF_PRECISION


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    for name in (*OF_PRECISION, *OF_KERNELS):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "value", "usual"),
    [
        ("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "1", "0"),
        ("NVIDIA_TF32_OVERRIDE", "1", "0"),
        ("ONEDNN_DEFAULT_FPMATH_MODE", "BF16", "STRICT"),
        ("DNNL_DEFAULT_FPMATH_MODE", "ANY", ""),
    ],
)
def test_a_variable_that_changes_the_precision_is_refused(monkeypatch, name, value, usual):
    cfg = compose([])
    for taken in (None, usual):
        if taken is not None:
            monkeypatch.setenv(name, taken)
        check_device(cfg)
    monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=f"^{name}={value}: computes fp32 in another precision"):
        check_device(cfg)


def test_probes_refuse_it_too():
    done = run_script("probe", "model=pre_ln", env={"NVIDIA_TF32_OVERRIDE": "1"})
    assert done.returncode == 2
    assert "NVIDIA_TF32_OVERRIDE=1: computes fp32 in another precision" in done.stderr


def test_variables_that_choose_kernels_are_recorded(monkeypatch):
    assert "kernels" not in environment("cpu", {})
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # which the option threads decides
    assert environment("cpu", {})["kernels"] == {"ATEN_CPU_CAPABILITY": "default"}

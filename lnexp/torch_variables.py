"""Check environment variables that change the precision of torch, and list those that change its kernels."""

import os

from lnexp.errors import UserError

#: Our own: has oneDNN compute matrix products of updates, see :mod:`lnexp.training.matrix_products`.
MATMUL = "LNEXP_MATMUL"

#: Variables by which single precision is computed in another one, with the values that leave it as it is.
OF_PRECISION = {
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": ("", "0"),
    "NVIDIA_TF32_OVERRIDE": ("", "0"),
    "ONEDNN_DEFAULT_FPMATH_MODE": ("", "STRICT"),
    "DNNL_DEFAULT_FPMATH_MODE": ("", "STRICT"),
}

#: Variables that choose other kernels, as another processor would, or other threads than ``threads`` says. Sums round
#: otherwise.
OF_KERNELS = (
    MATMUL,
    "ATEN_CPU_CAPABILITY",
    "CUBLAS_WORKSPACE_CONFIG",
    "DNNL_MAX_CPU_ISA",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "OMP_DYNAMIC",
    "OMP_THREAD_LIMIT",
    "ONEDNN_MAX_CPU_ISA",
)


def check_variables() -> None:
    """Refuse variables by which ``precision=fp32`` would not be what is computed, or that mean nothing.

    Raises:
        UserError: for the first of them.
    """
    for name, usual in OF_PRECISION.items():
        if (value := os.environ.get(name, "")) not in usual:
            raise UserError(f"{name}={value}: computes fp32 in another precision; unset it (precision=… chooses one)")
    asks_for_onednn()


def asks_for_onednn() -> bool:
    """Return whether :data:`MATMUL` asks for oneDNN. Raises UserError for a value that it cannot have."""
    if (value := os.environ.get(MATMUL, "")) not in ("", "onednn"):
        raise UserError(f"{MATMUL}={value}: is onednn, or unset for torch's default")
    return bool(value)


def chosen_kernels() -> dict[str, str]:
    """Return those of :data:`OF_KERNELS` that are set, with their values."""
    return {name: os.environ[name] for name in OF_KERNELS if os.environ.get(name)}

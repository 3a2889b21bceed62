"""List the GPUs that runs can be planned for, and estimate times on them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """A GPU, by its maker's data sheet.

    Attributes:
        title: its full name.
        flops: floating point operations a second in dense matrix products, by precision.
        bandwidth: bytes a second between its memory and its cores.
        memory: GiB.
        link: bytes a second from it to another one of the same machine (NVLink, one way).
    """

    title: str
    flops: dict[str, float]
    bandwidth: float
    memory: float
    link: float


#: fp32 is IEEE single precision, PyTorch's default, and not TF32.
DEVICES = {
    "h100": Device("H100 SXM", {"bf16": 989e12, "fp16": 989e12, "fp32": 67e12}, 3.35e12, 80, 450e9),
    "h200": Device("H200 SXM", {"bf16": 989e12, "fp16": 989e12, "fp32": 67e12}, 4.8e12, 141, 450e9),
    "a100": Device("A100 SXM 80 GB", {"bf16": 312e12, "fp16": 312e12, "fp32": 19.5e12}, 2.0e12, 80, 300e9),
    "v100": Device("V100 SXM 32 GB", {"fp16": 125e12, "fp32": 15.7e12}, 0.9e12, 32, 150e9),
}

#: The share of these rates that training reaches, and the time to start one operation. Both are assumed.
UTILISATION = 0.4
SECONDS_AN_OPERATION = 6e-6
#: How many GPUs the usual machine has, which their links join.
GPUS_OF_A_MACHINE = 8


def seconds(device: Device, precision: str, flops: float, traffic: float, operations: int) -> float:
    """Estimate the time of a forward and backward pass over a batch, in seconds, without fused operations.

    Args:
        device: one of :data:`DEVICES`.
        precision: of matrix products.
        flops: floating point operations of matrix products.
        traffic: bytes that operations read and write.
        operations: how many are started.
    """
    busy = flops / device.flops[precision] + traffic / device.bandwidth
    return max(busy / UTILISATION, operations * SECONDS_AN_OPERATION)


def all_reduce_seconds(device: Device, gradient_bytes: int, processes: int) -> float:
    """Estimate the seconds that processes of one machine take to add up their gradients in a ring, after the pass."""
    sent = 2 * gradient_bytes * (processes - 1) / processes
    return sent / device.link / UTILISATION

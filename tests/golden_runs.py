"""Record short runs, and compare them number by number with those of another state of the code.

    python tests/golden_runs.py record FOLDER        # with the code as it was
    python tests/golden_runs.py compare FOLDER       # with the code as it is: exit 1 where a number differs

A refactoring must not change what is measured: every number of ``metrics.jsonl`` but the times, the final states, the
translations and the parameters of the last checkpoint must be equal to the last digit. They are on one machine and with
one CPU thread, not across machines, hence a tool and not a test.
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TRAIN = ROOT / "scripts" / "train.py"
#: Depends on the clock or on the machine.
TIMES = ("seconds", "tokens_per_second", "time", "commit")
COMMON = ["tracker=none", "profile=small", "seed=11"]
ARRAY = ["-m", "hydra/launcher=array", "order_seed=1"]


def once(where: list[str], overrides: list[str], processes: int = 1) -> None:
    """Train to the end."""
    subprocess.run(
        _command(where, overrides, processes), env=_environment(), capture_output=True, text=True, check=True
    )


def stopped(number: signal.Signals) -> Callable[[list[str], list[str]], None]:
    """Train, send the signal after the second epoch, and train on."""

    def train(where: list[str], overrides: list[str]) -> None:
        process = subprocess.Popen(_command(where, overrides), env=_environment(), stdout=subprocess.DEVNULL)
        runs = Path(where[0].partition("=")[2])
        while process.poll() is None and not any("checkpoint2.pt" in path.name for path in runs.rglob("*.sha256")):
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(number)
        assert process.wait() != 0, "the signal came too late"
        once(where, overrides)

    return train


def in_two_processes(where: list[str], overrides: list[str]) -> None:
    once(where, overrides, processes=2)


Train = Callable[[list[str], list[str]], None]
RUNS: dict[str, tuple[Train, list[str]]] = {
    "adam_post_ln": (once, ["model=post_ln", "max_epoch=4", "lr_max=2e-3", "warmup_updates=100"]),
    "radam_pre_ln_linear": (
        once,
        ["model=pre_ln", "optimizer=radam", "lr_schedule=linear", "max_epoch=4", "warmup_updates=60"],
    ),
    "sgd_post_ln": (once, ["optimizer=sgd", "lr_max=0.1", "max_epoch=4", "optimizer.weight_decay=1e-4"]),
    "admin_step_dropout": (
        once,
        ["model=admin", "lr_schedule=step", "lr_schedule.decay_epoch=3", "max_epoch=4", "model.dropout=0.1"],
    ),
    "rezero_rms_paper_init": (once, ["model=rezero", "optimizer=radam", "max_epoch=3", "init=paper", "clip_norm=1"]),
    "pre_ln_probes_average": (
        once,
        [
            *["model=pre_ln", "norm=scale_norm", "max_epoch=3", "probes.every=60", "evaluation.average_last=2"],
            *["evaluation.whole_valid_every=2", "evaluation.valid_sentences=50", "warmup_updates=1"],
        ],
    ),
    "resumed_within_epoch": (
        stopped(signal.SIGTERM),
        ["model=post_ln", "max_epoch=5", "lr_max=2e-3", "warmup_updates=100", "model.dropout=0.1"],
    ),
    "diverged": (once, ["model=post_ln", "optimizer=sgd", "lr_max=1e18", "max_epoch=3", "warmup_updates=150"]),
    "bf16": (once, ["model=deep_norm", "precision=bf16", "max_epoch=1", "update_freq=2"]),
    "two_processes": (in_two_processes, ["model=peri_ln", "max_epoch=1", "update_freq=2"]),
    "array_post_ln": (
        once,
        [*ARRAY, "optimizer=adam,radam,sgd", "max_epoch=4", "lr_max=2e-3", "warmup_updates=1,100", "model=post_ln"],
    ),
    "array_admin_linear": (
        once,
        [
            *ARRAY,
            "model=admin",
            "lr_schedule=linear",
            "max_epoch=3",
            "seed=11,12",
            "evaluation.average_last=2",
            "warmup_updates=60",
        ],
    ),
    "array_rezero_step": (
        once,
        [*ARRAY, "model=rezero", "lr_schedule=step", "lr_schedule.decay_epoch=2", "max_epoch=3", "seed=11,12"],
    ),
    "array_diverged": (
        once,
        [*ARRAY, "model=pre_ln", "optimizer=sgd", "lr_max=0.1,1e18", "max_epoch=3", "warmup_updates=150"],
    ),
    "array_resumed": (
        stopped(signal.SIGKILL),
        [*ARRAY, "model=post_ln", "max_epoch=5", "lr_max=1e-3,2e-3", "warmup_updates=100", "model.dropout=0.1"],
    ),
    "array_bf16": (once, [*ARRAY, "model=residual", "precision=bf16", "max_epoch=1", "lr_max=1e-3,2e-3"]),
}


def _command(where: list[str], overrides: list[str], processes: int = 1) -> list[str]:
    many = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"] if processes > 1 else []
    return [sys.executable, "-W", "ignore", *many, str(TRAIN), *overrides[:2], *COMMON, *overrides[2:], *where]


def _environment() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}


def results(train: Train, overrides: list[str], data_dir: Path) -> dict[str, Any]:
    """What the runs of one entry measured, by the name of their folder."""
    with tempfile.TemporaryDirectory() as here:
        train([f"runs_dir={here}/runs", f"data_dir={data_dir}"], overrides)
        return {path.name: _measured(path) for path in sorted(Path(here, "runs").glob("[!.]*/*-*"))}


def _measured(folder: Path) -> dict[str, Any]:
    import torch

    records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    status = json.loads((folder / "status.json").read_text())
    checkpoints = {}
    for path in sorted((folder / "checkpoints").glob("*.pt")):
        state = torch.load(path, weights_only=False)
        checkpoints[path.name] = {
            "model": _digest(state["model"]),
            "optimizer": _digest(state["last_optimizer_state"]),
            "updates": state["optimizer_history"][-1]["num_updates"],
        }
    return {
        "records": [{key: value for key, value in record.items() if key not in TIMES} for record in records],
        "status": {key: status[key] for key in ("state", "why", "updates")},
        "hypotheses": {path.name: _sha256(path.read_bytes()) for path in sorted(folder.glob("hypotheses/*"))},
        "checkpoints": checkpoints,
    }


def _digest(state: Any) -> str:
    """Of all tensors and plain values of a nested state, in their order."""
    import torch

    parts: list[bytes] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                parts.append(str(key).encode())
                walk(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                walk(inner)
        elif isinstance(value, torch.Tensor):
            parts.append(value.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
        else:
            parts.append(repr(value).encode())

    walk(state)
    return _sha256(b"".join(parts))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def differences(before: Any, now: Any, where: str = "") -> list[str]:
    """A line for every value that is not the same."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = dict.fromkeys([*before, *now])
        return [line for key in keys for line in differences(before.get(key), now.get(key), f"{where}/{key}")]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [line for number, pair in pairs for line in differences(*pair, f"{where}/{number}")]
    return [] if before == now else [f"{where}: {before!r} is now {now!r}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=list(RUNS), default=list(RUNS), metavar="RUN")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)

    def one(name: str) -> list[str]:
        found, path = results(*RUNS[name], arguments.folder / "data"), arguments.folder / f"{name}.json"
        if arguments.what == "record":
            path.write_text(json.dumps(found, indent=1) + "\n")
            print(f"{name}: {len(found)} runs recorded", flush=True)
            return []
        lines = differences(json.loads(path.read_text()), json.loads(json.dumps(found)), name)
        print(f"{name}: {len(found)} runs, {len(lines)} differences", *lines[:20], sep="\n  ", flush=True)
        return lines

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        sys.exit(any(list(pool.map(one, arguments.only))))


if __name__ == "__main__":
    main()

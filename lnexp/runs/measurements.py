"""Say whether a run was measured along training as it is asked to be: neither probes nor diagnostics decide a run."""

from collections.abc import Mapping
from typing import Any

from omegaconf import DictConfig

from lnexp.plain import plain
from lnexp.runs.folder import RunFolder

#: What older runs, which do not say, were asked to measure.
NO_DIAGNOSTICS = {"at": [], "sharpness": 0, "state_changes": False}


def asked(cfg: DictConfig) -> dict[str, Any]:
    """Return what is to be measured along a run: its ``probes`` and ``diagnostics``."""
    return {"probes": plain(cfg.probes), "diagnostics": plain(cfg.diagnostics)}


def is_to_be_measured(measurements: Mapping[str, Any]) -> bool:
    """Return whether what :func:`asked` returns measures anything."""
    return bool(_parts_that_measure(measurements))


def _parts_that_measure(measurements: Mapping[str, Any]) -> list[str]:
    something = {
        "probes": measurements["probes"]["every"] > 0,
        "diagnostics": measurements["diagnostics"] != NO_DIAGNOSTICS,
    }
    return [name for name, measures in something.items() if measures]


def measured_otherwise(cfg: DictConfig, recorded: Mapping[str, Any]) -> list[str]:
    """Return which of ``probes`` and ``diagnostics`` differ from those that a run was trained with.

    Args:
        cfg: what is asked now.
        recorded: the run's ``config.yaml``; empty where there is none, which tells nothing.
    """
    if not recorded:
        return []
    before = {
        "probes": recorded.get("probes"),
        "diagnostics": NO_DIAGNOSTICS | (recorded.get("diagnostics") or {}),
    }
    return [name for name, value in asked(cfg).items() if value != before[name]]


def lacking(cfg: DictConfig, folder: RunFolder) -> str:
    """Return a clause on what a run that is over lacks of the measurements that are asked; empty for nothing.

    Raises:
        UserError: where something is asked, and the run's ``config.yaml`` is malformed.
    """
    something = _parts_that_measure(asked(cfg))
    if not something:
        return ""
    names = [name for name in measured_otherwise(cfg, folder.config) if name in something]
    return f"trained with other {' and '.join(names)}; force=true trains it afresh with these" if names else ""

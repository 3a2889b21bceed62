"""Measure sets of arms of a sweep without the package: lr sensitivity and the like, by numpy over a cube of nlls."""

import itertools

import numpy as np
from recipe_files import arms_of, axes_of

#: In which axes the arms of a measure's set differ, by what outcomes call these, in the order in which sets are tried.
LEFT_OUT = {
    "lr_sensitivity": [{"columns"}],
    "mean_nll": [{"columns"}],
    "tuned_nll": [{"columns"}, {"columns", "over"}],
    "best_lr": [{"columns"}],
    "shortest_warmup": [{"over"}],
    "good_share": [{"columns"}, {"over"}, {"columns", "over"}],
}


def arms_of_set(recipe, measure, name):
    """Return the arms of a set, each with the rate and the warm-up that it sets; none for what is no set."""
    if measure not in LEFT_OUT:
        return {}
    axes = axes_of(recipe)
    for parts in LEFT_OUT[measure]:
        hidden = {recipe["outcomes"][part] for part in parts}
        found = {}
        for keys in itertools.product(*axes.values()):
            chosen = dict(zip(axes, keys, strict=True))
            if "_".join(key for axis, key in chosen.items() if axis not in hidden) == name:
                found["_".join(keys)] = said_by(axes, chosen)
        if found:
            return found
    return {}


def said_by(axes, chosen):
    """Return the rate and the warm-up that the values of axes set."""
    overrides = [said for axis, key in chosen.items() for said in axes[axis][key]["overrides"]]
    options = dict(said.split("=", 1) for said in overrides)
    return float(options["lr_max"]), float(options["warmup_updates"])


def final(run, initial):
    last = run["last_valid_nll"]
    return initial if run["status"] == "diverged" or last == "" else min(float(last), initial)


def measured(recipe, runs, measure, name):
    """Return the values of a measure of a set, by seed.

    Args:
        recipe: the content of its file.
        runs: those that are over, rows of runs.csv by arm and seed.
        measure: its name.
        name: of the set.
    """
    sweep, arms = recipe["sweep"], arms_of_set(recipe, measure, name)
    finals = {which: final(run, sweep["initial_nll"]) for which, run in runs.items()}
    seeds = sorted(set.intersection(*({seed for of, seed in finals if of == arm} for arm in arms)))
    if not seeds:
        return {}
    table = np.array([[finals[arm, seed] for arm in arms] for seed in seeds])
    rates, warmups = np.array(list(arms.values())).T
    least, line = table.min(axis=1), line_of(recipe, finals)
    match measure:
        case "lr_sensitivity":
            values = np.minimum(table, sweep["initial_nll"]).mean(axis=1) - least
        case "mean_nll":
            values = np.minimum(table, sweep["initial_nll"]).mean(axis=1)
        case "tuned_nll":
            values = table[:, table.mean(axis=0).argmin()]
        case "best_lr" if line is not None:
            values = np.where(least < line, rates[table.argmin(axis=1)], 0)
        case "shortest_warmup" if line is not None:
            near = np.where(table <= least[:, None] + sweep["within"], warmups, np.inf)
            values = np.where(least < line, near.min(axis=1), 2 * warmups.max())
        case "good_share" if line is not None:
            values = (table < line).mean(axis=1)
        case _:
            return {}
    return dict(zip(seeds, map(float, values), strict=True))


def line_of(recipe, finals):
    """Return the nll that a good run is below; None where an arm has no run."""
    by_arm = {arm: [] for arm in arms_of(recipe)}
    for (arm, _), value in finals.items():
        by_arm[arm].append(value)
    if not all(by_arm.values()):
        return None
    best = min(map(np.mean, by_arm.values()))
    return (1 - recipe["sweep"]["good"]) * best + recipe["sweep"]["good"] * recipe["sweep"]["initial_nll"]

"""Read a folder of results without the package: what a call measures of an arm, by seed."""

import csv
import json
import math
from functools import cache

import numpy as np
import sweeps
from recipe_files import arms_of, content_at, oldest_first, plan_of, recipe_of
from scipy import stats

#: The commit that ended the first version of the numerics, which is older than the naming of commits.
FIRST_ENDED = "5a3b39f"
OVER = ("finished", "diverged")


def rows(path):
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def numbers(of, key):
    return [float(row[key]) for row in of if row.get(key, "") != ""]


def by_run(table):
    """Return the rows of a table by arm and seed, in their order."""
    found = {}
    for row in table:
        found.setdefault((row["arm"], int(row["seed"])), []).append(row)
    return found


def commits_of(environments):
    """Return the commits that environments name, those before a run was resumed, too."""
    commits = set()
    for environment in environments:
        git = environment.get("git", {})
        first = FIRST_ENDED if environment.get("numerics", 1) == 1 else None
        commits |= {git.get("commit") or first, *git.get("earlier", [])} - {None}
    return commits


class Folder:
    """A folder of results, with its recipe.

    Attributes:
        verdicts: the content of its verdicts.json.
        arms: the names of the recipe's arms, whether there are runs of them or not.
        commits: of the code that made it.
        planned: the seeds that were planned when it was made, or are by now if these are more.
    """

    def __init__(self, path):
        self.path = path
        self.profile, self.data = path.parts[-3:-1]
        self.verdicts = json.loads((path / "verdicts.json").read_text(encoding="utf-8"))
        self.recipe = recipe_of(path, self.verdicts["recipe"])
        self.arms = arms_of(self.recipe)
        self.probed = by_run(rows(path / "measurements.csv"))
        self.runs = {(run["arm"], int(run["seed"])): run for run in rows(path / "runs.csv") if run["status"] in OVER}
        self.epochs, self.probes = by_run(rows(path / "epochs.csv")), by_run(rows(path / "probes.csv"))
        provenance = json.loads((path / "provenance.json").read_text(encoding="utf-8"))
        self.score = f"best_{'accuracy' if self.recipe.get('task') == 'masked_lm' else 'bleu'}"
        self.commits = commits_of(provenance["environments"])
        plans = [plan_of(content_at(commit, path.name), self.profile) for commit in oldest_first(self.commits)]
        recorded = provenance.get("planned", {"first_seed": 0, "n_seeds": 0})
        plans.append(range(recorded["first_seed"], recorded["first_seed"] + recorded["n_seeds"]))
        self.planned = max(filter(None, [*plans, plan_of(self.recipe, self.profile)]), key=len)
        self.settings = {run: provenance["settings"] | of["settings"] for run, of in provenance["runs"].items()}

    @cache  # noqa: B019 - a folder lives as long as the script
    def measured(self, name, arm):
        """Return the values of a measure of an arm, or of a set of arms, by seed; None of a run that diverged without
        one.
        """
        if name in sweeps.LEFT_OUT:
            return sweeps.measured(self.recipe, self.runs, name, arm)
        if self.probed:
            return {seed: self.of_probe(name, of) for (of_arm, seed), of in self.probed.items() if of_arm == arm}
        mine = {seed: run for (of_arm, seed), run in self.runs.items() if of_arm == arm}
        found = {seed: self.of_run(name, run) for seed, run in mine.items()}
        return {seed: value for seed, value in found.items() if value is not None or mine[seed]["status"] == "diverged"}

    @cache  # noqa: B019 - a folder lives as long as the script
    def succeeded(self):
        """Return which runs succeed, by arm and seed; none of what was probed. Arms without any run are left out."""
        if self.probed:
            return {}
        said = {"measure": self.score, "fraction": 0.5} | self.recipe.get("success", {})
        scores = {arm: self.measured(said["measure"], arm) for arm in self.arms}
        best = max((np.mean(list(of.values())) for of in scores.values() if of), default=0)
        line = max(said["fraction"] * best, said.get("at_least", 0))
        return {
            arm: {seed: score > line and self.runs[arm, seed]["status"] != "diverged" for seed, score in of.items()}
            for arm, of in scores.items()
            if of
        }

    def divided(self, arm):
        """Return whether some runs of an arm succeed and others do not."""
        return len(set(self.succeeded().get(arm, {}).values())) > 1

    def identities(self, measure, arm, seeds):
        """Return the identities of the runs of an arm, or of a set, by seed; those of probes are of no file."""
        arms = sweeps.arms_of_set(self.recipe, measure, arm) or [arm]
        return None if self.probed else [self.runs[one, seed]["identity"] for seed in sorted(seeds) for one in arms]

    def of_probe(self, name, of):
        plot = self.recipe["plot"]
        of = [row for row in of if row[plot["x"]] != "" and row[plot["y"]] != ""]
        x, y = np.array(numbers(of, plot["x"])), np.array(numbers(of, plot["y"]))
        match name:
            case "mean" | "least" | "greatest":
                return float({"mean": np.mean, "least": np.min, "greatest": np.max}[name](y))
            case "first":
                return float(y[np.argmin(x)])
            case "last":
                return float(y[np.argmax(x)])
            case "slope":
                return float(np.polyfit(x, y, 1)[0])
            case "exponent":
                return float(np.polyfit(np.log(x), np.log(y), 1)[0])
            case "growth":
                return float(np.exp(np.polyfit(x, np.log(y), 1)[0]))
            case "predicted_growth":
                order, factors = np.argsort(x), np.sqrt(1 + np.array(numbers(of, "source_variance")))
                return float(np.exp(np.polyfit(x[order], np.log(np.cumprod(factors[order])), 1)[0]))
        raise ValueError(name)

    def of_run(self, name, run):
        which = (run["arm"], int(run["seed"]))
        epochs, probes = self.epochs.get(which, []), self.probes.get(which, [])
        diverged = run["status"] == "diverged"
        least = 0.0 if diverged else None
        kind, _, what = name.partition("_")
        match name:
            case "best_bleu" | "best_accuracy":
                return max(numbers(epochs, f"valid_{what}"), default=least)
            case "last_bleu" | "last_accuracy":
                return (numbers(epochs, f"valid_{what}") or [least])[-1]
            case "early_bleu" | "early_loss" | "early_nll":
                planned = self.settings[run["identity"]]["max_epoch"]
                at = [row for row in epochs if int(row["epoch"]) == math.ceil(planned * 3 / 5)]
                return next(iter(numbers(at, f"valid_{what}")), least if what == "bleu" else None)
            case "updates_to_nll":
                settings = self.settings[run["identity"]]
                return updates_to(settings["evaluation.target_nll"], epochs)
            case "test_bleu":
                return float(run["test_bleu"]) if run["test_bleu"] else least
            case "best_loss" | "best_nll":
                return min(numbers(epochs, f"valid_{what}"), default=None)
            case "last_loss" | "last_nll":
                return None if diverged else (numbers(epochs, f"valid_{what}") or [None])[-1]
            case "majority":
                return (numbers(epochs, "valid_majority") or [None])[-1]
            case "gradient_change" | "mean_gradient_change":
                return gradient_change(probes, kind == "mean")
        if name.endswith("_state_exponent"):
            side = [row for row in probes if row["side"] == kind and row["output"] != ""]
            last = [row for row in side if row["update"] == side[-1]["update"]]
            return float(np.polyfit(np.log(numbers(last, "layer")), np.log(numbers(last, "output")), 1)[0])
        if name in run:  # of records that are not published: what the table states
            return float(run[name]) if run[name] else None
        raise ValueError(f"{name}: not known here")


def updates_to(target, epochs):
    """Where the curve of the validation nll first meets the target; nowhere: None."""
    updates, nll = np.array(numbers(epochs, "update")), np.array(numbers(epochs, "valid_nll"))
    there = np.flatnonzero(nll <= target)
    if not there.size:
        return None
    first = there[0]
    before = max(first - 1, 0)
    return float(np.interp(target, [nll[first], nll[before]], [updates[first], updates[before]]))


def gradient_change(probes, mean):
    norms = {}
    for row in probes:
        if row["grad_norm"] != "":
            which = (row["side"], int(row["layer"]), row["parameter"])
            norms.setdefault(which, []).append(float(row["grad_norm"]))
    changes = {which: seen[-1] / seen[0] for which, seen in norms.items() if len(seen) > 1}
    if mean:
        return float(stats.gmean(list(changes.values())))
    return changes["decoder", max(layer for side, layer, _ in norms if side == "decoder"), "W2"]

"""Recompute every published verdict from the CSVs, sharing no code with the package: ``python recompute.py [results]``.

It reads runs.csv, epochs.csv, probes.csv or measurements.csv, the settings in provenance.json, and of a recipe what it
plots and what it calls a success. The tests are read with :mod:`ast`; the statistics are those of scipy.stats.
"""

import ast
import csv
import json
import math
import sys
from pathlib import Path

import numpy as np
import yaml
from scipy import stats

ROOT = Path(__file__).parents[2]
OVER = ("finished", "diverged")


def rows(path):
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def numbers(of, key):
    return [float(row[key]) for row in of if row.get(key, "") != ""]


class Folder:
    """A folder of results: what a call measures, by seed."""

    def __init__(self, path):
        self.path = path
        self.verdicts = json.loads((path / "verdicts.json").read_text(encoding="utf-8"))
        self.recipe = yaml.safe_load((ROOT / "recipes" / f"{path.name}.yaml").read_text(encoding="utf-8"))
        self.probed = rows(path / "measurements.csv")
        self.runs = [row for row in rows(path / "runs.csv") if row["status"] in OVER]
        self.epochs, self.probes = rows(path / "epochs.csv"), rows(path / "probes.csv")
        self.arms = {row["arm"] for row in self.probed} | {row["arm"] for row in rows(path / "runs.csv")}
        provenance = json.loads((path / "provenance.json").read_text(encoding="utf-8"))
        self.settings = {run: provenance["settings"] | of["settings"] for run, of in provenance["runs"].items()}

    def measured(self, name, arm):
        if self.probed:
            mine = [row for row in self.probed if row["arm"] == arm]
            of = {seed: [row for row in mine if row["seed"] == seed] for seed in {row["seed"] for row in mine}}
            return {int(seed): self.of_probe(name, found) for seed, found in of.items()}
        found = {int(run["seed"]): self.of_run(name, run) for run in self.runs if run["arm"] == arm}
        return {seed: value for seed, value in found.items() if value is not None}

    def of_probe(self, name, of):
        plot = self.recipe["plot"]
        of = [row for row in of if row[plot["x"]] != "" and row[plot["y"]] != ""]
        x, y = np.array(numbers(of, plot["x"])), np.array(numbers(of, plot["y"]))
        match name:
            case "mean" | "least" | "greatest":
                return float({"mean": np.mean, "least": np.min, "greatest": np.max}[name](y))
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
        def mine(table):
            return [row for row in table if (row["arm"], row["seed"]) == (run["arm"], run["seed"])]

        epochs, probes = mine(self.epochs), mine(self.probes)
        diverged = run["status"] == "diverged"
        match name:
            case "best_bleu":
                return max(numbers(epochs, "valid_bleu"), default=0.0 if diverged else None)
            case "last_bleu":
                return (numbers(epochs, "valid_bleu") or [0.0 if diverged else None])[-1]
            case "early_bleu":
                epoch = math.ceil(self.settings[run["identity"]]["max_epoch"] * 3 / 5)
                at = [row for row in epochs if int(row["epoch"]) == epoch]
                return numbers(at, "valid_bleu")[0] if at else (0.0 if diverged else None)
            case "early_loss":
                epoch = math.ceil(self.settings[run["identity"]]["max_epoch"] * 3 / 5)
                return next(iter(numbers([row for row in epochs if int(row["epoch"]) == epoch], "valid_loss")), None)
            case "last_accuracy":
                return (numbers(epochs, "valid_accuracy") or [0.0 if diverged else None])[-1]
            case "updates_to_nll":
                settings = self.settings[run["identity"]]
                return updates_to(settings["evaluation.target_nll"], epochs, settings["max_epoch"] if diverged else 0)
            case "test_bleu":
                return float(run["test_bleu"]) if run["test_bleu"] else (0.0 if diverged else None)
            case "best_loss" | "best_nll":
                return min(numbers(epochs, name.replace("best", "valid")), default=None)
            case "last_loss" | "last_nll":
                return (numbers(epochs, name.replace("last", "valid")) or [None])[-1]
            case "gradient_change" | "mean_gradient_change":
                return gradient_change(probes, name.startswith("mean"))
        if name.endswith("_state_exponent"):
            side = [row for row in probes if row["side"] == name.split("_")[0] and row["output"] != ""]
            last = [row for row in side if row["update"] == side[-1]["update"]]
            return float(np.polyfit(np.log(numbers(last, "layer")), np.log(numbers(last, "output")), 1)[0])
        raise ValueError(f"{name}: not known here")


def updates_to(target, epochs, planned):
    """Where the curve of the validation nll first meets the target; the run's end, or its planned one, where never."""
    updates, nll = np.array(numbers(epochs, "update")), np.array(numbers(epochs, "valid_nll"))
    there = np.flatnonzero(nll <= target)
    if not there.size:
        return float(max(updates[-1], updates[-1] / len(updates) * planned))
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
    return changes["decoder", max(layer for _, layer, _ in norms), "W2"]


def value(node, folder, seed):
    """Return the value of an expression at a seed. Raises KeyError where an arm does not have the seed."""
    match node:
        case ast.Constant(value=number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -value(inner, folder, seed)
        case ast.Call(func=ast.Name(id="logit"), args=[inner]):
            share = min(max(value(inner, folder, seed), 0.05), 99.95) / 100
            return math.log(share / (1 - share))
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=arm)]):
            return folder.measured(name, arm)[seed]
        case ast.BinOp(left=left, op=op, right=right):
            a, b = value(left, folder, seed), value(right, folder, seed)
            return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}[type(op)] if not isinstance(op, ast.Div) else a / b
    raise ValueError(ast.unparse(node))


def seeds_of(tree, folder):
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.args[0], ast.Name)]
    sets = [set(folder.measured(call.func.id, call.args[0].id)) for call in calls]
    return sorted(set.intersection(*sets))


def one_sided(values):
    """Return the lower and the upper one-sided 95% bound of the mean."""
    n, mean = len(values), np.mean(values)
    half = stats.t.ppf(0.95, n - 1) * np.std(values, ddof=1) / math.sqrt(n)
    return mean - half, mean + half


def verdict(holds_if, folder):
    """Return the verdict of a test on a folder of results."""
    tree = ast.parse(holds_if.strip(), mode="eval").body
    if isinstance(tree, ast.Compare) and getattr(getattr(tree.left, "func", None), "id", "") == "success":
        return of_rate(tree, folder)
    seeds = seeds_of(tree, folder)
    if not seeds:
        return "not run"
    if len(seeds) == 1:
        return "inconclusive"
    if isinstance(tree, ast.Call):
        (a, b), within = tree.args, tree.keywords[0].value
        upper = [value(within, folder, s) - (value(a, folder, s) - value(b, folder, s)) for s in seeds]
        lower = [value(within, folder, s) + (value(a, folder, s) - value(b, folder, s)) for s in seeds]
        bounds = [one_sided(upper), one_sided(lower)]
    else:
        sign = 1 if isinstance(tree.ops[0], ast.Gt) else -1
        left, right = tree.left, tree.comparators[0]
        margins = [sign * (value(left, folder, s) - value(right, folder, s)) for s in seeds]
        half = stats.t.ppf(0.975, len(seeds) - 1) * stats.sem(margins)
        bounds = [(np.mean(margins) - half, np.mean(margins) + half)]
    if all(low > 0 for low, _ in bounds):
        return "reproduced"
    return "contradicted" if any(high < 0 for _, high in bounds) else "inconclusive"


def of_rate(tree, folder):
    arm, rate = tree.left.args[0].id, tree.comparators[0].value
    said = {"measure": "best_bleu", "fraction": 0.5} | folder.recipe.get("success", {})
    scores = {name: folder.measured(said["measure"], name) for name in folder.arms}
    if not all(scores.values()):
        return "not run"
    best = max(np.mean(list(of.values())) for of in scores.values())
    line = max(said["fraction"] * best, said.get("at_least", 0))
    diverged = {int(run["seed"]) for run in folder.runs if run["arm"] == arm and run["status"] == "diverged"}
    good = sum(score > line and seed not in diverged for seed, score in scores[arm].items())
    found = stats.binomtest(good, len(scores[arm])).proportion_ci(0.95, method="exact")
    above, below = found.low > rate, found.high < rate
    if not (above or below):
        return "inconclusive"
    return "reproduced" if above == isinstance(tree.ops[0], ast.Gt) else "contradicted"


def disagreements(results):
    """Yield each claim whose published verdict is not the recomputed one; and how many were looked at at last."""
    count = 0
    for path in sorted(results.glob("*/*/*/verdicts.json")):
        folder = Folder(path.parent)
        for claim in folder.verdicts["claims"]:
            count += 1
            absolute = claim["scope"] == "absolute" and not folder.verdicts["papers"]
            found = "not run" if absolute else verdict(claim["holds_if"], folder)
            if found != claim["verdict"]:
                yield f"{path.parent}: {claim['id']}: published as {claim['verdict']}, recomputed as {found}"
    yield count


if __name__ == "__main__":
    *wrong, looked_at = disagreements(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results")
    print("\n".join([*wrong, f"{looked_at} verdicts recomputed, {len(wrong)} disagree"]))
    sys.exit(bool(wrong))

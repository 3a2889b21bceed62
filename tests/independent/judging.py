"""Judge the test of a claim without the package: verdict, estimate, margins, p-values and what is said of arms.

Tests are read with :mod:`ast`; the statistics are those of scipy.stats.
"""

import ast
import math
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

#: What measures of trained runs can be, by the ends of their names.
POSSIBLE = {"_bleu": (0, 100), "_accuracy": (0, 1), "good_share": (0, 1)} | dict.fromkeys(
    ("_nll", "_loss", "lr_sensitivity", "best_lr", "shortest_warmup"), (0, math.inf)
)
BOTH, ONE = 0.95, 0.90  # of a two-sided interval, and of one whose ends are one-sided bounds at 5%


@dataclass
class Judged:
    """What the seeds say of a test, in the form of verdicts.json.

    Attributes:
        seeds: those that all arms shown have, of runs that diverged without a value, too.
        used: those whose values decide.
        decided_by: the numbers that decide, and their runs: a measure of few values has the same ones of other runs.
    """

    form: str
    verdict: str = "not run"
    estimate: dict | None = None
    margins: list = field(default_factory=list)
    p: float | None = None
    exact_p: float | None = None
    arms: dict = field(default_factory=dict)
    seeds: set = field(default_factory=set)
    used: set = field(default_factory=set)
    decided_by: tuple = ()


def judged(holds_if, folder, of_the_paper):
    """Return what a folder of results says of a test.

    Args:
        holds_if: the test.
        folder: the folder.
        of_the_paper: whether its runs may be asked this test.
    """
    tree = ast.parse(holds_if.strip(), mode="eval").body
    found = {
        (ast.unparse(node), node.func.id, node.args[0].id): folder.measured(node.func.id, node.args[0].id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.args[0], ast.Name) and node.func.id != "success"
    }
    if not of_the_paper:
        found = {call: {} for call in found}
    if not found:
        return of_rate(tree, folder, of_the_paper)
    seeds = sorted(set.intersection(*map(set, found.values())))
    values = {seed: {text: of[seed] for (text, _, _), of in found.items()} for seed in seeds}
    known = {seed: at for seed, at in values.items() if None not in at.values()}
    judged = equivalence(tree, known) if isinstance(tree, ast.Call) else comparison(tree, known)
    judged.arms, judged.seeds, judged.used = arms(found, folder), set(seeds), set(seeds)
    judged.decided_by += tuple(sorted({run for of in judged.arms.values() for run in of["runs"] or ()}))
    if all(found.values()) and any(None in of.values() for of in found.values()):
        judged.verdict, judged.p, judged.exact_p = "inconclusive", None, None
    return judged


def value(node, at):
    """Return the value of an expression, given those of its calls."""
    match node:
        case ast.Constant(value=number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -value(inner, at)
        case ast.Call(func=ast.Name(id="logit"), args=[inner]):
            share = min(max(value(inner, at), 0.05), 99.95) / 100
            return math.log(share / (1 - share))
        case ast.Call():
            return at[ast.unparse(node)]
        case ast.BinOp(left=left, op=op, right=right):
            a, b = value(left, at), value(right, at)
            return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}[type(op)] if not isinstance(op, ast.Div) else a / b
    raise ValueError(ast.unparse(node))


def comparison(tree, values):
    sign = 1 if isinstance(tree.ops[0], ast.Gt) else -1
    left, right = tree.left, tree.comparators[0]
    margins = [sign * (value(left, at) - value(right, at)) for at in values.values()]
    p = min(1.0, 2 * min(one_sided(margins, "greater"), one_sided(margins, "less"))) if len(margins) > 1 else None
    estimate = of_margins(margins, BOTH)
    judged = decided("comparison", estimate, [estimate], p, zip(values, margins, strict=True))
    judged.exact_p = of_signs(margins)
    return judged


def equivalence(tree, values):
    (a, b), within = tree.args, tree.keywords[0].value
    differences = [value(a, at) - value(b, at) for at in values.values()]
    allowed = [value(within, at) for at in values.values()]
    beyond = [[c - d for c, d in zip(allowed, differences, strict=True)]]
    beyond += [[c + d for c, d in zip(allowed, differences, strict=True)]]
    p = None
    if len(differences) > 1:
        holds = max(one_sided(margins, "greater") for margins in beyond)
        p = min(holds, min(one_sided(margins, "less") for margins in beyond))
    margins = [of_margins(margins, ONE) for margins in beyond]
    numbers = zip(values, differences, allowed, strict=True)
    return decided("equivalence", of_margins(differences, ONE), margins, p, numbers)


def decided(form, estimate, margins, p, numbers):
    """Return a judgement whose margins all have to be above zero."""
    if estimate is None:
        return Judged(form)
    verdict = "inconclusive"
    if all(margin["low"] is not None and margin["low"] > 0 for margin in margins):
        verdict = "reproduced"
    elif any(margin["high"] is not None and margin["high"] < 0 for margin in margins):
        verdict = "contradicted"
    return Judged(form, verdict, estimate, margins, p, decided_by=(form, *rounded(numbers)))


def of_rate(tree, folder, of_the_paper):
    arm, rate, above = tree.left.args[0].id, tree.comparators[0].value, isinstance(tree.ops[0], ast.Gt)
    said = {"measure": folder.score, "fraction": 0.5} | folder.recipe.get("success", {})
    scores = {name: folder.measured(said["measure"], name) if of_the_paper else {} for name in folder.arms}
    means = {name: np.mean(list(of.values())) for name, of in scores.items() if of}
    shown = [arm, *([max(means, key=means.__getitem__)] if means else [])]
    seeds, used = (many(*(set(scores[name]) for name in shown)) for many in (set.intersection, set.union))
    arms_shown = arms({(said["measure"], said["measure"], name): scores[name] for name in shown}, folder)
    if not all(scores.values()):
        return Judged("success rate", arms=arms_shown, seeds=seeds, used=used)
    mine, good = sorted(scores[arm].items()), sum(folder.succeeded()[arm].values())
    found = stats.binomtest(good, len(mine)).proportion_ci(BOTH, method="exact")
    estimate = {"mean": good / len(mine), "low": float(found.low), "high": float(found.high), "n": len(mine)}
    ends = [estimate[key] - rate for key in ("mean", "low", "high")]
    mean, low, high = ends if above else (-ends[0], -ends[2], -ends[1])
    margin = {"mean": mean, "low": low, "high": high, "n": len(mine)}
    p = float(min(1, 2 * min(stats.binom.cdf(good, len(mine), rate), stats.binom.sf(good - 1, len(mine), rate))))
    judged = decided("success rate", estimate, [margin], p, mine)
    judged.arms, judged.seeds, judged.used = arms_shown, seeds, used
    judged.decided_by = (above, rate, *judged.decided_by)
    return judged


def interval(values, level):
    """Return a mean with Student's t interval."""
    if not values:
        return None
    n, mean = len(values), float(np.mean(values))
    if n == 1:
        return {"mean": mean, "low": None, "high": None, "n": 1}
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * np.std(values, ddof=1) / math.sqrt(n))
    return {"mean": mean, "low": mean - half, "high": mean + half, "n": n}


def are_one(values):
    return bool(np.ptp(values) <= 1e-9 * np.abs(values).max())


def of_margins(margins, level):
    """Return an interval; without ends where all margins are one and too few for a sign test to decide."""
    found, n = interval(margins, level), len(margins)
    if n > 1 and are_one(margins) and stats.binomtest(n, n).pvalue >= 1 - level:
        found |= {"low": None, "high": None}
    return found


def one_sided(values, alternative):
    """Return the p-value of Student's one-sided test of a mean of zero; of a sign test where all values are one."""
    if are_one(values):
        positive = len(values) if np.mean(values) > 0 else 0
        return 0.5 if np.mean(values) == 0 else sign_test(positive, len(values), alternative)
    return float(stats.ttest_1samp(values, 0, alternative=alternative).pvalue)


def of_signs(values):
    """Return the p-value of the exact test over all signs of values; None for none."""
    if not 1 < len(values) <= 20:
        return None
    return float(stats.permutation_test((values,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue)


def sign_test(positive, n, alternative):
    """Return the p-value of a one-sided sign test; of the less likely side it is one minus that of the other."""
    by_chance = float(stats.binomtest(n, n, alternative="greater").pvalue)
    return by_chance if (positive == n) == (alternative == "greater") else 1 - by_chance


def arms(found, folder):
    """Return what was measured by arm, or by call where an arm is asked twice."""
    asked = [arm for _, _, arm in found]
    said = {}
    for (text, measure, arm), values in found.items():
        known = {seed: value for seed, value in values.items() if value is not None}
        mean = interval([known[seed] for seed in sorted(known)], BOTH) or dict.fromkeys(("mean", "low", "high")) | {
            "n": 0
        }
        said[arm if asked.count(arm) == 1 else text] = {
            "measure": measure,
            **mean,
            "extremes": extremes(measure, list(known.values()), mean, folder.divided(arm)),
            "diverged": len(values) - len(known),
            "runs": folder.identities(measure, arm, known),
        }
    return said


def extremes(measure, values, mean, divided):
    """Return the ends of runs that are divided, or whose interval leaves what is possible; of others None."""
    if len(values) < 2:
        return None
    least, most = next((bounds for end, bounds in POSSIBLE.items() if measure.endswith(end)), (-math.inf, math.inf))
    beyond = mean["low"] < least or mean["high"] > most
    return [min(values), max(values)] if divided or beyond else None


def rounded(numbers):
    return [tuple(float(f"{number:.10g}") for number in of_seed) for of_seed in numbers]

"""Recompute what is published of claims, sharing no code with the package: ``python recompute.py [results]``.

From runs.csv, epochs.csv, probes.csv or measurements.csv, the settings and commits in provenance.json, and the recipes
come verdicts, estimates, margins and p-values, the numbers of arms, what counts, and the tallies of verdicts.md.
"""

import math
import re
import sys
from pathlib import Path

from counting import Counted, registered, tally
from evidence import Folder
from judging import judged
from recipe_files import ROOT

CLOSE = {"rel_tol": 1e-6, "abs_tol": 1e-12}
SECTION = re.compile(r"^## \[.*\]\((.*)/table\.md\)$", re.MULTILINE)


def recomputed(folder, claim, holds_if):
    """Return what verdicts.json has to say of a recipe's claim, by its keys, and the claim as tallies take it."""
    found = judged(holds_if, folder, claim["scope"] == "relative" or folder.verdicts["papers"])
    mine = {key: getattr(found, key) for key in ("verdict", "form", "estimate", "margins", "p", "exact_p", "arms")}
    mine["registered"] = registered(claim, folder)
    mine["exploratory"] = claim.get("exploratory", False) or folder.data in folder.recipe.get("exploratory_on", [])
    mine |= {"check": claim.get("check", False)} | {key: claim.get(key, "") for key in ("implied_by", "restates")}
    mine["planned"] = len(folder.planned)
    mine["seeds"] = len(found.seeds.intersection(folder.planned))
    mine["others"] = len(found.used.difference(folder.planned))
    return mine, Counted(found, why_not(mine))


def why_not(mine):
    """Return why tallies leave a claim out."""
    if mine["exploratory"]:
        return "exploratory"
    if mine["check"]:
        return "a check"
    if mine["implied_by"]:
        return "implied by another claim"
    if mine["restates"]:
        return "restates another claim"
    if mine["registered"] == "after":
        return "registered after the runs"
    if mine["verdict"] == "not run":
        return ""
    if mine["seeds"] < mine["planned"]:
        return "fewer seeds than planned"
    return "more seeds than planned" if mine["others"] else ""


def differences(mine, stated, place):
    """Yield where two values of JSON differ by more than rounding; None of ours stands for what is not known here."""
    if isinstance(mine, dict) and isinstance(stated, dict) and mine.keys() == stated.keys():
        for key in mine:
            yield from differences(mine[key], stated[key], f"{place}, {key}")
    elif isinstance(mine, list) and isinstance(stated, list) and len(mine) == len(stated):
        for number, (one, other) in enumerate(zip(mine, stated, strict=True)):
            yield from differences(one, other, f"{place}, {number}")
    elif not (place.endswith(", runs") and mine is None) and not alike(mine, stated):
        yield f"{place}: published as {stated}, recomputed as {mine}"


def alike(one, other):
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, **CLOSE)
    return one == other


def wrong_contrasts(pairs):
    """Yield where one contrast is stated of other numbers, or other contrasts of the same."""
    stated, mine = {}, {}
    for place, contrast, numbers in pairs:
        if stated.setdefault(contrast, numbers) != numbers or mine.setdefault(numbers, contrast) != contrast:
            yield f"{place}: its contrast is not that of its numbers"


def wrong_tallies(page, by_folder):
    """Yield where the page of all verdicts says another tally than its claims have."""
    places = SECTION.findall(page)
    if sorted(places) != sorted(by_folder):
        yield f"verdicts.md: shows {len(places)} of {len(by_folder)} folders"
        return
    said = {"Over all recipes": re.search(r"^Over all recipes: (.*)$", page, re.MULTILINE)[1]}
    said |= {
        place: text.strip().splitlines()[-1] for place, text in zip(places, SECTION.split(page)[2::2], strict=True)
    }
    found = {"Over all recipes": tally([one for place in places for one in by_folder[place]])}
    found |= {place: tally(counted) for place, counted in by_folder.items()}
    for place in said:
        if said[place] != found[place]:
            yield f'verdicts.md, {place}: says "{said[place]}", recomputed is "{found[place]}"'


def disagreements(results):
    """Yield whatever is not as published; and how many claims were looked at at last."""
    by_folder, contrasts = {}, []
    for path in sorted(results.glob("*/*/*/verdicts.json")):
        folder, place = Folder(path.parent), "/".join(path.parts[-4:-1])
        claims = {claim["id"]: claim for claim in folder.recipe["claims"]}
        by_folder[place] = []
        for stated in folder.verdicts["claims"]:
            name = f"{place}: {stated['id']}"
            if stated["id"] not in claims:
                yield f"{name}: its recipe has no such claim"
                continue
            claim = claims.pop(stated["id"])
            if stated["holds_if"].split() != claim["holds_if"].split():
                yield f"{name}: its test is not that of its recipe"
            mine, counted = recomputed(folder, claim, stated["holds_if"])
            yield from differences(mine, {key: stated[key] for key in mine}, name)
            by_folder[place].append(counted)
            contrasts.append((name, stated["contrast"], counted.judged.decided_by))
        if claims:
            yield f"{place}: lacks {', '.join(claims)}"
    yield from wrong_contrasts([found for found in contrasts if found[2]])
    yield from wrong_tallies((results / "verdicts.md").read_text(encoding="utf-8"), by_folder)
    yield sum(map(len, by_folder.values()))


if __name__ == "__main__":
    *wrong, looked_at = disagreements(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results")
    print("\n".join([*wrong, f"{looked_at} verdicts recomputed, {len(wrong)} disagree"]))
    sys.exit(bool(wrong))

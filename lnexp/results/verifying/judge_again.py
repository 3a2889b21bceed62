"""Judge the claims of published results again, from their own tables: after a claim or the code that judges changed."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict

from lnexp.errors import UNREADABLE, UserError
from lnexp.files import write_whole
from lnexp.recipes.jobs import THEORY
from lnexp.recipes.load import recipe_of_results
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import Evidence
from lnexp.results.evidence.provenance import Provenance, read_provenance
from lnexp.results.evidence.published_evidence import PublishedRun, published_evidence
from lnexp.results.judging.claims import Origin, judge_all
from lnexp.results.judging.planned_seeds import planned_seeds
from lnexp.results.judging.verdict_file import Verdicts, write_verdicts
from lnexp.results.verifying.rounding import alike
from lnexp.results.verifying.stated_by_epochs import denied_by_epochs
from lnexp.results.verifying.stated_by_folder import refuse_other_folders
from lnexp.results.verifying.stated_by_pages import denied_by_page, page_again
from lnexp.results.verifying.stated_by_schedule import denied_by_schedule
from lnexp.results.verifying.stated_by_settings import (
    denied_by_arm,
    denied_by_command,
    denied_by_environment,
    denied_by_settings,
)
from lnexp.results.verifying.stated_by_tables import refuse_disagreeing_tables
from lnexp.schema import read_json
from lnexp.tasks import load_task


class JudgedBefore(TypedDict):
    """A claim of an older ``verdicts.json``, whatever else is said of it."""

    command: str


class Kept(TypedDict):
    """What of an older ``verdicts.json`` the tables beside it do not have."""

    recipe: str
    scope: str
    settings: str
    papers: bool
    malformed: list[str]
    claims: list[JudgedBefore]
    command: NotRequired[str]


class Judged(NamedTuple):
    """What the tables of a folder of results have on the arms of a recipe, and the verdicts that it gives."""

    recipe: Recipe
    evidence: list[Evidence]
    verdicts: Verdicts


def judged(folder: Path) -> Judged:
    """Return the verdicts that the tables of a folder of results give, with what they were found by.

    Of its ``verdicts.json`` only what tables do not have is read: scope, command, the runs that could not be read,
    whether they are the paper's, and the hash of their settings. Its claims may be of another form.

    Raises:
        UserError: where a file cannot be read, runs.csv disagrees with epochs.csv or provenance.json, or there is no
            such recipe.
    """
    try:
        old: Kept = read_json(folder / "verdicts.json", Kept)
        recipe, claims = recipe_of_results(folder, old["recipe"]), old["claims"]
        evidence = published_evidence(recipe, folder, old["papers"])
        _check_runs(folder, evidence)
        command = claims[0]["command"] if claims else old.get("command", "")
        profile, data, name = folder.resolve().parts[-3:]
        if recipe.name != name:
            raise ValueError(f"its recipe is {recipe.name}, its folder {name}")
        made = read_provenance(folder)
        runs = [one for one in evidence if isinstance(one, PublishedRun)]
        refuse_disagreeing_tables(folder, recipe, runs, made)
        refuse_other_folders(profile, data, old["scope"], command, made)
        if old["papers"] and not _can_be_the_papers(recipe, profile, made):
            raise ValueError("verdicts.json says that it is of the paper's model and corpus, other files do not")
        planned = planned_seeds(recipe, profile, made.commits, made.planned)
        origin = Origin(profile, data, old["scope"], command, made.commits, planned, old["malformed"])
        verdicts = replace(judge_all(recipe, evidence, origin), settings=old["settings"], papers=old["papers"])
        return Judged(recipe, evidence, verdicts)
    except UNREADABLE as error:
        raise UserError(f"{folder}: cannot be judged again ({type(error).__name__}: {error})") from error


def _can_be_the_papers(recipe: Recipe, profile: str, made: Provenance) -> bool:
    """Return whether results can be of the paper's model on the paper's whole corpus, by the files beside them."""
    corpus = "iwslt14" if recipe.measurement else recipe.setting_at("paper").data
    whole = bool(made.data) and all(load_task(recipe.task).is_whole(corpus, manifest) for manifest in made.data)
    runs = made.runs.values()
    return profile in ("paper", THEORY) and whole and not any(run.settings.get("precision") == "bf16" for run in runs)


#: The comparisons of what a run's files and its recipe say of it, and what is said where they differ.
COMPARED = {
    "epochs.csv gives other numbers than runs.csv states": denied_by_epochs,
    "provenance.json has other settings than runs.csv states": denied_by_settings,
    "provenance.json has other settings than the arm asks for": denied_by_arm,
    "provenance.json has other settings than the command asks for": denied_by_command,
    "epochs.csv has other rates or updates than the schedule and the length give": denied_by_schedule,
    "provenance.json has another machine than runs.csv states": denied_by_environment,
}


def _check_runs(folder: Path, evidence: Sequence[Evidence]) -> None:
    """Raise UserError where the files and the recipe of results state different things of a run that counts.

    Measurements have no rows there.
    """
    runs = [one for one in evidence if isinstance(one, PublishedRun) and one.counts]
    for found, denied_by in COMPARED.items():
        wrong = [
            f"{run.job.arm.name} seed {run.job.seed}: {', '.join(denied)}" for run in runs if (denied := denied_by(run))
        ]
        if wrong:
            more = f" and {len(wrong) - 1} more runs" if len(wrong) > 1 else ""
            raise UserError(f"{folder}: {found}: {wrong[0]}{more}")


def judge_again(folder: Path) -> Verdicts:
    """Write ``verdicts.json`` and ``table.md`` of a folder of results anew, and return the verdicts.

    Raises:
        UserError: as :func:`judged` does, and where the page cannot be read.
    """
    recipe, evidence, verdicts = judged(folder)
    try:
        page = page_again(folder, recipe, evidence, verdicts)
    except UNREADABLE as error:
        raise UserError(f"{folder}: cannot be judged again ({type(error).__name__}: {error})") from error
    write_verdicts(folder, verdicts)
    write_whole(folder / "table.md", page)
    return verdicts


#: What ``verdicts.json`` says in the words of the recipe.
OF_THE_RECIPE = ("title", "figure", "known", "doubt")


def what_tables_deny(stated: Verdicts, folder: Path) -> str | None:
    """Return, in one line, which claims state other numbers than the tables beside them give, what is said of the
    results other than by their recipe, or that their page says something else; None where nothing is.

    Numbers that differ by rounding are the same.
    """
    try:
        return _denied(stated, folder, judged(folder))
    except UserError as error:
        return str(error)
    except UNREADABLE as error:
        return f"{folder}: cannot be compared ({type(error).__name__}: {error})"


def _denied(stated: Verdicts, folder: Path, found: Judged) -> str | None:
    recipe, evidence, again = found
    given = {claim.id: asdict(claim) for claim in again.claims}
    if other := [name for name in OF_THE_RECIPE if getattr(stated, name) != getattr(again, name)]:
        return f"{folder}: its {', '.join(other)} are not the recipe's; python scripts/judge.py"
    wrong = [claim.id for claim in stated.claims if not alike(asdict(claim), given.get(claim.id))]
    if not wrong:
        return denied_by_page(folder, recipe, evidence, stated)
    return f"{folder}: its tables give other numbers for {', '.join(wrong)}; python scripts/judge.py"

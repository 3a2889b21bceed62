"""Choose the corpora that pages show, the strongest evidence first, and the runs of the answer on each."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lnexp.corpora.names import corpus_name
from lnexp.errors import UserError
from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.judging.verdicts import RecipeVerdicts
from lnexp.results.pages.headline import ROWS
from lnexp.results.pages.published_folder import PublishedFolder


class Corpus(NamedTuple):
    """A corpus that the paper's experiments are run on: its place in results, and what it is, in a sentence."""

    place: str
    in_words: str

    @property
    def name(self) -> str:
        return corpus_name(self.place.rpartition("/")[2])


#: The strongest evidence first. Pages show those that have results of Fig. 4(a,b) which tallies count.
CORPORA = (
    Corpus("paper/iwslt14", "the whole of IWSLT14"),
    Corpus("medium/multi30k", "Multi30k"),
    Corpus("small/toy", "the embedded corpus of made-up German-English sentences"),
)


def shown_corpora(results_dir: Path) -> list[Corpus]:
    """Return the corpora that pages show: those whose results tallies count, or all where they count none.

    Raises:
        UserError: where there is none.
    """
    found = {one: path for one in CORPORA if (path := results_dir / one.place / "fig4ab" / "verdicts.json").exists()}
    if not found:
        raise UserError(f"{results_dir}: has no results of fig4ab, which pages begin with")
    return [one for one, path in found.items() if counts(RecipeVerdicts(path, read_verdicts(path)))] or list(found)


def answer_points(results_dir: Path) -> dict[str, dict[str, list[float]]]:
    """Return what the figure of the answer shows: the best BLEU of every run, by corpus and row of ``ROWS``."""
    points: dict[str, dict[str, list[float]]] = {}
    for corpus in shown_corpora(results_dir):
        for row, arms in ROWS.items():
            found = first_arm(results_dir, corpus.place, arms)
            points.setdefault(corpus.name, {})[row] = found.folder.values("best_bleu", found.arm) if found else []
    return points


class PublishedArm(NamedTuple):
    """An arm of published results."""

    folder: PublishedFolder
    arm: str


def first_arm(results_dir: Path, place: str, arms: Sequence[str]) -> PublishedArm | None:
    """Return the first of these arms, ``recipe/arm``, that has results at a place; None where none has."""
    for recipe, _, arm in (name.partition("/") for name in arms):
        folder = results_dir / place / recipe
        if (folder / "verdicts.json").exists() and arm in (of := PublishedFolder(folder)).arms:
            return PublishedArm(of, arm)
    return None


def in_one_recipe(results_dir: Path) -> bool:
    """Return whether all arms of the answer are of one recipe on each corpus, so that they share their schedule."""
    return all(
        len({found and found.folder.recipe.name for found in _arms_of_answer(results_dir, corpus)}) == 1
        for corpus in shown_corpora(results_dir)
    )


def _arms_of_answer(results_dir: Path, corpus: Corpus) -> list[PublishedArm | None]:
    return [first_arm(results_dir, corpus.place, arms) for arms in ROWS.values()]


def counts(one: RecipeVerdicts) -> bool:
    """Return whether tallies count a verdict of a recipe."""
    return any(claim.counts and claim.verdict != "not run" for claim in one.content.claims)

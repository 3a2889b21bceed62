"""Show verdicts as Markdown and in a terminal, each with its test, its reasons and when it was registered."""

from pathlib import Path

from tabulate import tabulate

from lnexp.files import write_whole
from lnexp.printable import one_line
from lnexp.recipes.load import COPY
from lnexp.results.evidence.made_with import differences
from lnexp.results.evidence.provenance import Provenance, read_provenance
from lnexp.results.judging.tally import tally
from lnexp.results.judging.verdict_file import JudgedClaim, Verdicts
from lnexp.results.judging.verdicts import RecipeVerdicts, all_verdicts
from lnexp.results.pages.markup import without_markup
from lnexp.results.pages.runs_part import runs_part
from lnexp.terminal import WIDTH, filled

HEADERS = ("claim", "the paper", "ours", "verdict")

HOW_TO_READ = """\
The test of a claim stands in its recipe, with the reasons for it and the commit that added it, before the runs or \
after. A comparison is judged by the margin by which it holds: Student's t over seeds, 95%, two-sided. A statement \
that two quantities are the same is judged by two one-sided t tests at 5% against a stated margin: its difference has \
a 90% interval. A success rate is judged by Clopper and Pearson's 95% interval. A p-value is of the decided \
direction. Tallies count the claims that were registered before the runs, are not exploratory and were judged on all \
seeds of the longest plan, today's or one from when the runs were made; not checks of what other claims need, nor \
what another claim implies, nor what restates another claim in another measure; and one test on the same runs once. \
Holm's correction is for the number of all those that were judged. The mean of an arm has its 95% interval, or in \
parentheses the least and the greatest of its runs, where some train and others do not or the interval would reach \
beyond what is possible."""


def in_terminal(shown: list[RecipeVerdicts]) -> str:
    """Return every claim with all that is known of it, in lines for a terminal of 80 columns."""
    blocks = []
    for verdicts in (one for one in shown if one.was_run):
        provenance = read_provenance(verdicts.path.parent)
        claims = [_claim_lines(claim, provenance) for claim in verdicts.content.claims]
        blocks += [filled(_title(verdicts)), *claims, filled(tally(verdicts.content.claims).text)]
    return "\n\n".join([*blocks, *_not_run_lines(shown), filled(tally_of_all(shown))])


def _claim_lines(claim: JudgedClaim, provenance: Provenance) -> str:
    """Return lines on a claim: its name with the verdict at the right, then what the tables of ``verdicts.md`` have."""
    name, paper, ours, verdict = _row(claim, "\n", provenance)
    head = f"{claim.id:<{WIDTH - len(verdict) - 1}} {verdict}"
    below = [*name.split("\n")[1:], *paper.split("\n"), *ours.split("\n")]
    return "\n".join([head, *(filled(f"  {line}", indent=4) for line in below)])


def _not_run_lines(shown: list[RecipeVerdicts]) -> list[str]:
    """Return one paragraph on all that is still to be run; none where nothing is."""
    lines = [
        filled(
            f"  {verdicts.recipe} ({verdicts.content.figure}), {verdicts.content.scope}:"
            f" {len(verdicts.content.claims)} claims",
            indent=4,
        )
        for verdicts in shown
        if not verdicts.was_run
    ]
    return ["\n".join(["not run:", *lines])] if lines else []


def tally_of_all(shown: list[RecipeVerdicts]) -> str:
    """Return the tally over all recipes, in words."""
    return tally(claim for verdicts in shown for claim in verdicts.content.claims).text


def as_page(shown: list[RecipeVerdicts]) -> str:
    """Return the content of ``results/verdicts.md``."""
    parts = [
        "# Verdicts",
        f"Every claim of every recipe, judged on the runs under `results/`. {HOW_TO_READ}",
        f"Over all recipes: {tally_of_all(shown)}.",
    ]
    for verdicts in shown:
        link = "/".join(verdicts.path.parts[-4:-1])
        claims = _of_recipe(verdicts.content, verdicts.path.parent)
        parts += [f"## [{_title(verdicts)}]({link}/table.md)", *claims]
    return without_markup("\n\n".join(parts) + "\n")


def verdicts_part(verdicts: Verdicts, folder: Path) -> list[str]:
    """Return the end of the ``table.md`` of a folder, in paragraphs: these verdicts, and its runs."""
    recipe = f"[{COPY}]({COPY})" if (folder / COPY).is_file() else f"`recipes/{verdicts.recipe}.yaml`"
    where = f"The recipe of these claims is {recipe}. {HOW_TO_READ}"
    return ["## Verdicts", where, *_of_recipe(verdicts, folder), *runs_part(folder)]


def write_page(results_dir: Path) -> None:
    """Write ``verdicts.md``, the page of all verdicts under a folder of results."""
    write_whole(results_dir / "verdicts.md", as_page(all_verdicts(results_dir)))


def _of_recipe(verdicts: Verdicts, folder: Path) -> list[str]:
    """Return the verdicts of a recipe as a table, what was known before and what is doubted, and their tally.

    Claims on the paper's own numbers have no row where its model or corpus is another: BLEU cannot be compared.
    """
    provenance = read_provenance(folder)
    elsewhere = [claim for claim in verdicts.claims if claim.scope == "absolute" and not verdicts.papers]
    rows = [_row(claim, "<br>", provenance) for claim in verdicts.claims if claim not in elsewhere]
    names = ", ".join(f"`{claim.id}`" for claim in elsewhere)
    notes = (
        ("Not judged here, because they ask for the paper's own numbers, on its model and corpus", names),
        ("Known before", verdicts.known),
        ("Doubt", verdicts.doubt),
    )
    said = [f"{name}: {text}" for name, text in notes if text]
    return [tabulate(rows, headers=HEADERS, tablefmt="github"), *said, f"{tally(verdicts.claims).text}."]


def _title(verdicts: RecipeVerdicts) -> str:
    return f"{verdicts.content.figure}, {verdicts.recipe}: {verdicts.content.scope}"


def _row(claim: JudgedClaim, line_break: str, provenance: Provenance) -> tuple[str, str, str, str]:
    # the paper's numbers stand beside ours only where corpus and model are the paper's
    numbers = claim.paper if claim.scope == "absolute" else {}
    paper = ", ".join(f"{arm} {number}" for arm, number in numbers.items())
    measured = [f"{call} {numbers}" for call, numbers in claim.measured.items()]
    test = one_line(claim.holds_if)
    why = one_line(claim.why)
    ours = line_break.join([*measured, f"test: {test}", claim.estimate_text, f"why: {why}"])
    runs = [run for arm in claim.arms.values() for run in arm.runs]
    mixed = differences(known.environment for run in runs if (known := provenance.runs.get(run)))
    name = line_break.join([claim.id, claim.standing, *([f"its runs differ in {mixed}"] if mixed else [])])
    return name, line_break.join(filter(None, (claim.source, paper))), ours, claim.verdict

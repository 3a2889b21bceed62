"""Find what results say of the paper's question: placement × warm-up on each corpus, and the claims that answer it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lnexp.results.judging.verdict_file import JudgedClaim
from lnexp.results.judging.verdicts import RecipeVerdicts
from lnexp.results.pages.corpora import names_of_corpora
from lnexp.results.pages.published_folder import PublishedFolder, readable_folder
from lnexp.tasks import load_task

#: The rows of the last screen's table, the columns of README's, and the arms that each can be taken from,
#: ``recipe/arm``, all at the lower lr_max: the first there. Recipe placement_decoupled has all in one schedule; in
#: fig4ab, whose claims are older than its runs, Pre-LN has another than Post-LN.
ROWS = {
    "Post-LN, no warm-up": (
        "placement_decoupled/post_ln_none",
        "fig4ab/post_ln_adam",
        "fig2a/no_warmup_low",
        "factorial/post_ln_adam_none_low",
    ),
    "Post-LN, warm-up": (
        "placement_decoupled/post_ln_full",
        "fig4ab/post_ln_adam_warmup",
        "fig2a/warmup_low",
        "factorial/post_ln_adam_full_low",
    ),
    "Pre-LN, no warm-up": ("placement_decoupled/pre_ln_none", "fig4ab/pre_ln_adam", "factorial/pre_ln_adam_none_low"),
    "Pre-LN, warm-up": ("placement_decoupled/pre_ln_full", "factorial/pre_ln_adam_full_low"),
}
#: The paper's results (sections 3.2 and 4) as ratios: BLEU of other corpora cannot be compared with its own.
PAPER = (
    "In the paper (IWSLT14) Post-LN without warm-up gets a quarter of its BLEU with warm-up, and Pre-LN without it"
    " about as much as Post-LN with it."
)
#: The two halves of the answer, and the claim of each.
ANSWER = {
    "without warm-up Post-LN fails": "fig4ab/fig4ab-placement-decides",
    "without warm-up Pre-LN trains": "fig4ab/fig4ab-pre-ln-trains",
}
#: The paper's claims that a reader looks for first, in words, ``recipe/claim``.
CLAIMS = {
    "Without warm-up Post-LN fails": "fig2a/fig2a-no-warmup-fails-low",
    "With a short warm-up Post-LN trains": "warmup_sensitivity/sensitivity-short-warmup-trains-low",
    "With a short warm-up Post-LN fails at twice the rate": "warmup_sensitivity/sensitivity-short-warmup-fails-high",
    "At a small constant rate Post-LN trains without warm-up": "small_fixed_lr/fixed-lr-trains",
    "With RAdam (β2 = 0.98) and no warm-up Post-LN is at most 15% behind Adam with it": (
        "fig4ab/fig4ab-radam-trains-post-ln"
    ),
    "… with β2 = 0.999": "radam/radam-999-trains-post-ln",
    "Pre-LN without warm-up is at most 5% behind Post-LN with it": "fig4ab/fig4ab-pre-ln-needs-no-warmup",
    "After 3/5 of the epochs Pre-LN is at most 10% behind Post-LN's end": "fig4ab/fig4ab-pre-ln-is-faster",
    "… at most 0.04 nats behind its end": "fig4ab/fig4ab-pre-ln-is-faster-nll",
}
MISSING = "not run"
#: Follows the name of a corpus whose answer tallies do not count.
UNCOUNTED = " (does not count)"
#: Marks claims, by whether tallies count them.
STAR = {True: "", False: "*"}


@dataclass(frozen=True)
class CorpusResults:
    """The results at one profile on one corpus.

    Attributes:
        profile, data: which.
        name: what it is called.
        recipes: the verdicts of each recipe that was run there, by its name.
    """

    profile: str
    data: str
    name: str
    recipes: dict[str, RecipeVerdicts]

    def cell(self, arms: Iterable[str]) -> str:
        """Return the mean best score of the first arm that has runs, and how many train, as ``12.6 (1 of 10)``.

        Seeds that are others than those of :attr:`scale` are added.
        """
        for recipe, _, arm in (name.partition("/") for name in arms):
            folder = self._folders.get(recipe)
            if folder and folder.values(f"best_{(score := load_task(folder.recipe.task).score).name}", arm):
                others = "" if folder.seeds == self._seeds else f"; {folder.seeds}"
                return f"{folder.mean(f'best_{score.name}', arm, score.places)} ({folder.trained(arm)}{others})"
        return MISSING

    def claim(self, name: str) -> JudgedClaim | None:
        """Return a claim, ``recipe/claim``; None where it was not judged here."""
        recipe, _, wanted = name.partition("/")
        claims = self.recipes[recipe].content.claims if recipe in self.recipes else []
        return next((claim for claim in claims if claim.id == wanted and claim.verdict != "not run"), None)

    @cached_property
    def cells(self) -> list[str]:
        """The column of the table."""
        return [self.cell(arms) for arms in ROWS.values()]

    @cached_property
    def answer(self) -> list[str]:
        """The verdicts of the claims that the answer is made of.

        A star is behind those that tallies do not count, unless they leave it out because a stronger one implies it.
        """
        claims = [self.claim(name) for name in ANSWER.values()]
        return [f"{one.verdict}{STAR[replace(one, implied_by='').counts]}" if one else MISSING for one in claims]

    @property
    def size(self) -> str:
        """Corpus, model and length of the first recipe of the table that was run here; empty where none was."""
        made_up = "made-up sentences, " if self.data == "toy" else ""
        return f"{made_up}{self._first.scale}{self._warmup}" if self._first else ""

    @property
    def _warmup(self) -> str:
        """How many of the updates are warm-up in the arms with warm-up; empty where none of them was run here."""
        for recipe, _, arm in (name.partition("/") for name in ROWS["Post-LN, warm-up"]):
            if (folder := self._folders.get(recipe)) and arm in folder.arms:
                return f", warm-up {folder.setting(arm, 'warmup_updates')}"
        return ""

    @property
    def scale(self) -> str:
        """Its size, and the seeds; empty where nothing was run here."""
        return f"{self.size}, {self._seeds}" if self._first else ""

    @property
    def lr_max(self) -> str:
        """The peak learning rate of the table; empty where nothing was run here."""
        return self._first.setting(self._first.arms[0], "lr_max") if self._first else ""

    @property
    def _seeds(self) -> str:
        return self._first.seeds if self._first else ""

    @property
    def _first(self) -> PublishedFolder | None:
        """The first recipe of the table that was run here; None where none can be read."""
        return next(iter(self._folders.values()), None)

    @cached_property
    def _folders(self) -> dict[str, PublishedFolder]:
        """The recipes of the table that were run here, by name.

        Those with damaged tables are left out: they have no cell, and their own section says what is wrong with them.
        """
        names = dict.fromkeys(arm.partition("/")[0] for arms in ROWS.values() for arm in arms)
        found = {name: readable_folder(self.recipes[name].path.parent) for name in names if name in self.recipes}
        return {name: folder for name, folder in found.items() if folder}


def headline_corpora(ran: Sequence[RecipeVerdicts]) -> list[CorpusResults]:
    """Return the corpora of the table: those whose answer tallies count, or all where they count none."""
    found: dict[tuple[str, str], dict[str, RecipeVerdicts]] = {}
    for one in ran:
        found.setdefault((one.profile, one.data), {})[one.recipe] = one
    names = names_of_corpora(found)
    corpora = [CorpusResults(*place, names[place], recipes) for place, recipes in found.items()]
    shown = [corpus for corpus in corpora if any(cell != MISSING for cell in corpus.cells)]
    counted = [corpus for corpus in shown if "*" not in "".join(corpus.answer)]
    return counted if any(MISSING not in corpus.answer for corpus in counted) else shown


def answer_of(corpora: Sequence[CorpusResults]) -> str:
    """Return the answer in words: on which corpora all its claims are reproduced; empty where it is open."""
    judged = [corpus for corpus in corpora if MISSING not in corpus.answer]
    by_verdict: dict[str, list[str]] = {}
    for corpus in judged:
        verdicts = {verdict.rstrip("*") for verdict in corpus.answer}
        worst = next(one for one in ("contradicted", "inconclusive", "reproduced") if one in verdicts)
        by_verdict.setdefault(worst, []).append(f"{corpus.name}{UNCOUNTED if '*' in ''.join(corpus.answer) else ''}")
    said = "; ".join(f"{verdict} on {' and '.join(names)}" for verdict, names in by_verdict.items())
    if not said:
        return ""
    rates = " and ".join(dict.fromkeys(corpus.lr_max for corpus in judged))
    own_size = any(one.content.papers for corpus in corpora for one in corpus.recipes.values())
    scale = "" if own_size else " None of this is at the paper's own size."
    return f"With Adam at lr_max {rates} Post-LN needs warm-up, Pre-LN trains without it: {said}.{scale}"

"""Say on which page of ``docs/results`` each published result stands, and in which order."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import product

from lnexp.errors import UserError
from lnexp.results.pages.headings import anchor
from lnexp.results.pages.published_folder import PublishedFolder


@dataclass(frozen=True)
class Chapter:
    """A page of results.

    Attributes:
        name: of its page, ``docs/results/NAME.md``.
        title: its first heading.
        about: what a list of all chapters says of it.
        places: the folders under ``results/``, in the order in which they are shown.
        template: that of its page; the default one is for recipes whose arms are trained.
    """

    name: str
    title: str
    about: str
    places: tuple[str, ...]
    template: str = "results/chapter"

    @property
    def page(self) -> str:
        """Return the place of its page in the project."""
        return f"docs/results/{self.name}.md"


#: What a recipe's heading begins with, and the pages of chapters need not say again.
BEYOND = re.compile(r"^beyond the paper(?:, why)?(?:: |, )")


def _places(folders: str, recipes: str) -> tuple[str, ...]:
    """Return the places of recipes in folders of results, both given as words."""
    return tuple(f"{folder}/{recipe}" for folder, recipe in product(folders.split(), recipes.split()))


#: All chapters. A recipe that is not published is left out where they are shown.
CHAPTERS = (
    Chapter(
        "multi30k",
        "The paper's figures and controls on Multi30k",
        "real text, five or six seeds",
        _places(
            "medium/multi30k",
            "fig2a fig4ab placement_decoupled radam warmup_sensitivity small_fixed_lr fig2a_coupled fig2b",
        ),
        template="results/multi30k",
    ),
    Chapter(
        "embedded-corpus",
        "The paper's figures on the embedded corpus",
        "made-up sentences, ten seeds",
        _places("small/toy", "fig2a fig4ab warmup_sensitivity small_fixed_lr fig3_warmup fig4cd fig2b"),
    ),
    Chapter(
        "papers-size",
        "The paper's size, on a GPU",
        "the first updates on a third of IWSLT14",
        _places("paper/iwslt14", "fig2a fig4ab placement_decoupled radam warmup_sensitivity small_fixed_lr")
        + _places("paper/iwslt14-subset", "paper_size paper_size_warmup paper_size_placement"),
    ),
    Chapter(
        "bert",
        "BERT's pre-training",
        "and its fine-tuning, on made-up sentences",
        _places("small/bert_toy", "fig5 fig5_finetune"),
        template="results/bert",
    ),
    Chapter(
        "controls",
        "Other readings and controls",
        "fairseq's schedule, equal budgets, RAdam's β2, the paper's initialisation, all factors; embedded corpus",
        _places(
            "small/toy",
            "placement_decoupled fig2a_coupled fig4ab_coupled placement_coupled warmup_sensitivity_coupled"
            " fig2b_coupled equal_budget radam fig4ab_init factorial",
        ),
    ),
    Chapter(
        "theory",
        "The theory, before training",
        "Theorem 1, its lemmas, appendix F and Fig. 3",
        _places("theory/gaussian", "theory_growth theory_lemma1 theory_lemma2 theory_lemma3 theory_theorem1")
        + _places("theory/iwslt14-subset", "fig3 fig3_layers theory_concentration")
        + _places("theory/toy", "amplification dependency fig3 fig3_layers theory_concentration theory_placements"),
        template="results/theory",
    ),
    Chapter(
        "why",
        "What happens when Post-LN fails without warm-up",
        "explanations, each tested by a change; what comes with the failure",
        _places("small/toy", "interventions interventions_high_rate adam_2k radam_parts")
        + _places("medium/multi30k", "interventions_real_text adam_2k_real_text")
        + _places("small/toy", "stall failure sharpness")
        + _places("theory/toy", "amplification_in_training linear_probes"),
        template="results/why",
    ),
    Chapter(
        "beyond",
        "Beyond the paper",
        "the map of placements, rates and warm-ups; each placement at its own best rate; depth",
        _places("small/toy", "placements map warmup_by_rate")
        + _places("medium/multi30k", "tuned_rate placements")
        + _places("small/toy", "depth states_in_training"),
        template="results/beyond",
    ),
)


def published_chapters(places: Collection[str]) -> list[Chapter]:
    """Return all chapters, each with the published ones of its places.

    Args:
        places: of all published results.

    Raises:
        UserError: for a place that is of no chapter.
    """
    for place in places:
        _chapter_of(place)
    return [replace(one, places=tuple(filter(places.__contains__, one.places))) for one in CHAPTERS]


def section_title(place: str, of: PublishedFolder) -> str:
    """Return the heading of a result on the page of its chapter; it has no corpus where all of the chapter have one."""
    heading = BEYOND.sub("", of.recipe.heading)
    folders = {one.rpartition("/")[0] for one in _chapter_of(place).places}
    return f"{heading[0].upper()}{heading[1:]}{f' ({of.corpus})' if len(folders) > 1 else ''}"


def section_place(place: str, of: PublishedFolder) -> str:
    """Return the place in the project where a result is shown: the page of its chapter, and the heading.

    Args:
        place: its folder under ``results/``; it is one of a chapter.
        of: what is there.
    """
    return f"{_chapter_of(place).page}#{anchor(section_title(place, of))}"


def _chapter_of(place: str) -> Chapter:
    for chapter in CHAPTERS:
        if place in chapter.places:
            return chapter
    raise UserError(f"{place}: on no page of docs/results; lnexp/results/pages/chapters.py says which has it")


def with_links(text: str, place: str, sections: Mapping[str, str]) -> str:
    """Return what a recipe says, with links from the names of others to where their results are shown.

    A name that is a word of its own, as ``map``, is one where ``recipe`` stands before it. In a sentence that names a
    profile nothing is linked, for the results may be another one's.

    Args:
        text: without links.
        place: of the recipe's results; of another recipe's those in the same folder are taken, if there are any.
        sections: what to link to, by the place of results.
    """
    folder, _, own = place.rpartition("/")

    def link(found: re.Match[str]) -> str:
        before, name = found.groups()
        places = [one for one in sections if one.endswith(f"/{name}")]
        if name == own or not places or not (before or re.search(r"[_\d]", name)):
            return found[0]
        here = f"{folder}/{name}"
        return f"{before}[{name}]({sections[here if here in places else places[0]]})"

    names = re.compile(r"((?:[Rr]ecipes? )?)(?<![\w-])([a-z]\w+)(?![\w-])")
    return "".join(
        sentence if "profile" in sentence else names.sub(link, sentence) for sentence in re.split(r"(?<=\. )", text)
    )

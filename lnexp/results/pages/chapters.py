"""Say on which page of ``docs/results`` each published result stands, and in which order."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import product

from lnexp.results.pages.headings import anchor
from lnexp.results.pages.published_folder import PublishedFolder


@dataclass(frozen=True)
class Chapter:
    """A page of results.

    Attributes:
        name: of its page, ``docs/results/NAME.md``, and of its template.
        title: its first heading.
        about: what a list of all chapters says of it.
        places: the folders under ``results/``, in the order in which they are shown.
    """

    name: str
    title: str
    about: str
    places: tuple[str, ...]

    @property
    def page(self) -> str:
        """Return the place of its page in the project."""
        return f"docs/results/{self.name}.md"

    @property
    def template(self) -> str:
        """Return the name of its template."""
        return f"results/{self.name}"


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
    ),
    Chapter(
        "why",
        "What happens when Post-LN fails without warm-up",
        "explanations, each tested by a change; what comes with the failure",
        _places("small/toy", "interventions interventions_high_rate adam_2k radam_parts")
        + _places("medium/multi30k", "interventions_real_text adam_2k_real_text")
        + _places("small/toy", "stall failure sharpness")
        + _places("theory/toy", "amplification_in_training linear_probes"),
    ),
    Chapter(
        "beyond",
        "Beyond the paper",
        "the map of placements, rates and warm-ups; each placement at its own best rate; depth",
        _places("small/toy", "placements map warmup_by_rate")
        + _places("medium/multi30k", "tuned_rate placements")
        + _places("small/toy", "depth states_in_training"),
    ),
)


def published_chapters(places: Collection[str]) -> list[Chapter]:
    """Return all chapters, each with the published ones of its places.

    Args:
        places: of all published results.
    """
    return [replace(one, places=tuple(filter(places.__contains__, one.places))) for one in CHAPTERS]


def section_title(of: PublishedFolder) -> str:
    """Return the heading of a result on the page of its chapter."""
    heading = of.recipe.heading
    return f"{heading[0].upper()}{heading[1:]} ({of.corpus})"


def section_place(place: str, of: PublishedFolder) -> str:
    """Return the place in the project where a result is shown: the page of its chapter, and the heading.

    Args:
        place: its folder under ``results/``; it is one of a chapter.
        of: what is there.
    """
    (page,) = (one.page for one in CHAPTERS if place in one.places)
    return f"{page}#{anchor(section_title(of))}"

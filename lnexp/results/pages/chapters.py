"""Say on which page of ``docs/results`` each published result stands, and in which order."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from lnexp.errors import UserError


@dataclass(frozen=True)
class Chapter:
    """A page of results.

    Attributes:
        name: of its page, ``docs/results/NAME.md``.
        title: its first heading.
        about: what a list of all chapters says of it.
        places: the folders under ``results/``, in the order in which they are shown.
        template: of its page.
        others: what the places of all others begin with that this page has, after its own.
    """

    name: str
    title: str
    about: str
    places: tuple[str, ...]
    template: str = "results/chapter"
    others: str = ""

    @property
    def page(self) -> str:
        """Return the place of its page in the project."""
        return f"docs/results/{self.name}.md"


def _places(*of_folders: tuple[str, str]) -> tuple[str, ...]:
    """Return the places of recipes, given as a folder of results and its recipes, as words."""
    return tuple(f"{folder}/{recipe}" for folder, recipes in of_folders for recipe in recipes.split())


#: All chapters; what is not published is left out where they are shown.
CHAPTERS = (
    Chapter(
        "multi30k",
        "The paper's figures and controls on Multi30k",
        "real text, six seeds",
        _places(
            (
                "medium/multi30k",
                "fig2a fig4ab placement_decoupled radam warmup_sensitivity small_fixed_lr fig2a_coupled fig2b",
            )
        ),
        template="results/multi30k",
        others="medium/multi30k/",
    ),
    Chapter(
        "embedded-corpus",
        "The paper's figures on the embedded corpus",
        "made-up sentences, ten seeds",
        _places(("small/toy", "fig2a fig4ab warmup_sensitivity small_fixed_lr fig3_warmup fig4cd fig2b")),
    ),
    Chapter(
        "papers-size",
        "The paper's size, on a GPU",
        "the first updates on a third of IWSLT14",
        _places(
            ("paper/iwslt14", "fig2a fig4ab placement_decoupled radam warmup_sensitivity small_fixed_lr"),
            ("paper/iwslt14-subset", "paper_size paper_size_warmup paper_size_placement"),
        ),
        others="paper/",
    ),
    Chapter(
        "bert",
        "BERT's pre-training",
        "and its fine-tuning, on made-up sentences",
        _places(("small/bert_toy", "fig5 fig5_finetune")),
        template="results/bert",
    ),
    Chapter(
        "controls",
        "Other readings and controls",
        "fairseq's schedule, equal budgets, RAdam's β2, the paper's initialisation, all factors; embedded corpus",
        _places(
            (
                "small/toy",
                "placement_decoupled fig2a_coupled fig4ab_coupled placement_coupled warmup_sensitivity_coupled"
                " fig2b_coupled equal_budget radam fig4ab_init factorial",
            )
        ),
        others="small/",
    ),
    Chapter(
        "theory",
        "The theory, before training",
        "Theorem 1, its lemmas, appendix F and Fig. 3",
        _places(
            (
                "theory/gaussian",
                "theory_growth theory_growth_decoder theory_lemma1 theory_lemma2 theory_lemma3 theory_theorem1",
            ),
            ("theory/iwslt14-subset", "fig3 fig3_layers theory_concentration"),
            (
                "theory/toy",
                "amplification dependency dependency_pairs fig3 fig3_layers theory_concentration theory_placements",
            ),
        ),
        template="results/theory",
        others="theory/",
    ),
    Chapter(
        "why",
        "What happens when Post-LN fails without warm-up",
        "explanations, each tested by a change; what comes with the failure",
        _places(
            ("small/toy", "interventions interventions_high_rate layers_held_back adam_2k radam_parts"),
            ("medium/multi30k", "interventions_real_text adam_2k_real_text"),
            ("small/toy", "stall failure sharpness first_updates"),
            ("theory/toy", "amplification_in_training amplification_newer linear_probes"),
        ),
        template="results/why",
    ),
    Chapter(
        "beyond",
        "Beyond the paper",
        "the map of placements, rates and warm-ups; each placement at its own best rate; depth",
        _places(
            ("small/toy", "placements map map_qk_norm warmup_by_rate"),
            ("medium/multi30k", "tuned_rate placements"),
            ("small/toy", "depth depth_by_rate states_in_training"),
        ),
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
    of_chapters: dict[str, list[str]] = {one.name: [] for one in CHAPTERS}
    for place in places:
        of_chapters[chapter_of(place).name].append(place)

    def in_order(one: Chapter) -> tuple[str, ...]:
        listed = [place for place in one.places if place in places]
        return (*listed, *(place for place in of_chapters[one.name] if place not in listed))

    return [replace(one, places=in_order(one)) for one in CHAPTERS]


def chapter_of(place: str) -> Chapter:
    """Return the chapter that a result stands in. Raises UserError where there is none."""
    for chapter in CHAPTERS:
        if place in chapter.places:
            return chapter
    for chapter in CHAPTERS:
        if chapter.others and place.startswith(chapter.others):
            return chapter
    raise UserError(f"{place}: on no page of docs/results; lnexp/results/pages/chapters.py says which has it")

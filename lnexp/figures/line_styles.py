"""Choose how lines look: a placement has one colour everywhere, an optimizer one dash, a length of warm-up one marker.

A run without warm-up has a hollow marker, one with a short warm-up a triangle; the higher lr_max is the lighter colour.
A constant rate is dash-dotted. Where all lines are of one placement, those that differ in nothing of this have a colour
each.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from omegaconf import OmegaConf

from lnexp.figures.panels import LineStyle
from lnexp.recipes.measured_run import measured_arm
from lnexp.recipes.recipe import Arm, Recipe

#: Of Okabe and Ito's palette, which colour-blind readers can tell apart, as are the next five; those from Sub-LN on are
#: of Tol's palettes, made for the same readers.
BLUE, ORANGE = "#0072B2", "#D55E00"
PLACEMENTS = {
    "pre_ln": BLUE,
    "post_ln": ORANGE,
    "admin": "#009E73",
    "b2t": "#CC79A7",
    "deep_norm": "#E69F00",
    "peri_ln": "#56B4E9",
    "residual": "#000000",
    "rezero": "#8A8A8A",
    "sub_ln": "#882255",
    "reordered_norm": "#44AA99",
    "layer_norm_scaling": "#DDCC77",
    "mix_ln": "#CC6677",
    "hybrid_norm": "#4477AA",
    "keel": "#228833",
    "branch_norm": "#EE6677",
    "pre_to_post": "#CCBB44",
    "prores": "#66CCEE",
}
#: Of lines that are not of these placements, and of those that would look like another.
OTHERS = ("#332288", "#117733", "#999933", "#AA4499", "#661100", "#6699CC", *PLACEMENTS.values())
OPTIMIZERS = {"adam": "-", "radam": "--", "sgd": ":"}
DASHES = ("-", "--", "-.", ":")
MARKERS = {"none": "hollow", "1": "hollow", "short": "triangle", "full": "dot"}
#: How far the colour of the higher lr_max is from white.
TINT = 0.5


def styles_of(recipe: Recipe, a_colour_each: bool = False) -> dict[str, LineStyle]:
    """Return the style of each label of a recipe's arms, ``Arm.label_in_row``; no two are alike.

    Args:
        recipe: whose arms they are.
        a_colour_each: whether arms of one placement have a colour each, as far as there are so many.

    Returns:
        A style for each label; beyond as many as there are, several have the same.
    """
    labelled: dict[str, list[Arm]] = {}
    for arm in recipe.arms.values():
        labelled.setdefault(arm.label_in_row, []).append(arm)
    settings = {label: _shared(recipe, arms) for label, arms in labelled.items()}
    of_one_placement = len(set(map(_placement, settings.values()))) == 1
    styles: dict[str, LineStyle] = {}
    for label, of_label in settings.items():
        used = {style.colour for style in styles.values()}
        near = _near(_wanted(of_label), other_colours=of_one_placement)
        if a_colour_each and "model" not in of_label and len(used) < len(OTHERS):
            styles[label] = next(style for style in near if style.colour not in used)
        else:
            styles[label] = next((style for style in near if style not in styles.values()), _wanted(of_label))
    return styles


def styles_by(recipe: Recipe, labels: Mapping[str, str]) -> dict[str, LineStyle]:
    """Return the style of each of other labels than the recipe's own, given by the names of the arms that have them."""
    return styles_of(
        recipe.with_arms({name: replace(recipe.arms[name], label=label, row="") for name, label in labels.items()})
    )


def style_of(recipe: Recipe, arm: Arm) -> LineStyle:
    """Return the style of an arm by its settings, where others may have the same."""
    return _wanted(_shared(recipe, [arm]))


def _shared(recipe: Recipe, arms: Iterable[Arm]) -> dict[str, str]:
    """Return the settings that all arms of one label have, option by option, as the recipe states them."""
    first, *others = [dict(_settings((*recipe.settings, *arm.overrides, *_of_its_run(recipe, arm)))) for arm in arms]
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def _of_its_run(recipe: Recipe, arm: Arm) -> tuple[str, ...]:
    """Return the settings of the trained run that an arm measures; none where it measures a model before training."""
    if not recipe.is_of_trained_runs:
        return ()
    settings = OmegaConf.from_dotlist([*recipe.settings, *arm.overrides])
    trained, its_arm = measured_arm(settings.run)
    return (*trained.settings, *its_arm.overrides)


def _settings(overrides: Iterable[str]) -> Iterator[tuple[str, str]]:
    for override in overrides:
        key, _, value = override.partition("=")
        yield key, value


def _placement(settings: dict[str, str]) -> str:
    return settings.get("placement", settings.get("model", ""))


def _wanted(settings: dict[str, str]) -> LineStyle:
    colour = PLACEMENTS.get(_placement(settings), OTHERS[0])
    if "high" in settings.get("lr_max", ""):
        colour = _lighter(colour)
    warmup = settings.get("warmup_updates", "").rstrip("}").rpartition(".")[2]
    constant = settings.get("lr_schedule") == "constant"
    dash = "-." if constant else OPTIMIZERS.get(settings.get("optimizer", ""), "-")
    return LineStyle(colour, dash, MARKERS.get(warmup, "dot"))


def _near(wanted: LineStyle, other_colours: bool) -> Iterator[LineStyle]:
    """Yield the style that is wanted, then those with another dash, then with another colour, then with another marker.

    Args:
        wanted: the style.
        other_colours: yield those with another colour before those with another dash.
    """
    colours = dict.fromkeys((wanted.colour, *OTHERS))
    markers = dict.fromkeys((wanted.marker, *MARKERS.values()))
    dashes = dict.fromkeys((wanted.dash, *DASHES))
    if other_colours:
        yield from (LineStyle(colour, dash, marker) for marker, dash, colour in product(markers, dashes, colours))
    else:
        yield from (LineStyle(colour, dash, marker) for marker, colour, dash in product(markers, colours, dashes))


def _lighter(colour: str) -> str:
    channels = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(255 - TINT * (255 - channel)):02X}" for channel in channels)

"""Name the figures of a folder of results for its page, without matplotlib, which takes long to import."""

from lnexp.recipes.recipe import MAIN_FIGURE, Recipe

CURVES = MAIN_FIGURE
GRADIENTS = "gradients"
STATES = "states"
ALONG = "along"
BY_ARM = "by_arm"
BY_CHECKPOINT = "by_checkpoint"
BY_DEPTH = "by_depth"
#: The figures of a sweep, in the order of its page.
SWEEP = ("map", "lr_sensitivity", "shortest_warmup", "ranking")
#: Arms whose curves can be told apart.
MOST_CURVES = 12


def drawn_by_arm(recipe: Recipe) -> bool:
    """Return whether the final loss is drawn by arm: of many arms, which no axes order."""
    return len(recipe.arms) > MOST_CURVES and not any(arm.values for arm in recipe.arms.values())

"""Put recipes into the order in which a reader looks for them."""

#: The recipes of the paper's figures; others of its experiments are other readings of these, and controls.
FIGURES = (
    "fig2a",
    "fig4ab",
    "warmup_sensitivity",
    "small_fixed_lr",
    "fig4cd",
    "fig2b",
    "fig3_warmup",
    "fig5",
    "fig5_finetune",
)


def rank(recipe: str) -> int:
    """Return the place of a recipe among those of the paper's figures; any other comes behind them."""
    return FIGURES.index(recipe) if recipe in FIGURES else len(FIGURES)

"""Make the figure of training, in the paper's form: loss, score and learning rate by epoch, a line an arm."""

import pandas as pd

from lnexp.figures.line_styles import styles_of
from lnexp.figures.names import CURVES
from lnexp.figures.panels import Drawing, LineStyle, Panel, line, with_few_bands
from lnexp.recipes.recipe import Arm, Recipe
from lnexp.seeds import named_seeds
from lnexp.tasks import load_task

#: The column of ``epochs.csv`` that is shown in nats and in bits.
LOSS = "valid_loss"
#: Of two rates that one scale cannot show.
FAR_APART = 20


def curves(recipe: Recipe, epochs: pd.DataFrame, scope: str, runs: pd.DataFrame | None = None) -> Drawing:
    """Return the figure of ``epochs.csv``, of runs that are over.

    Args:
        recipe: whose arms they are.
        epochs: the table, not empty.
        scope: what they were trained on, in words.
        runs: the rows of ``runs.csv`` of these runs, so that an arm of which some are missing or have diverged says so;
            None: of runs that no recipe planned.
    """
    task = load_task(recipe.task)
    panels = {
        LOSS: ("validation loss", task.loss_unit),
        task.score.valid: (f"validation {task.score.title}", task.score.title),
        "lr": ("learning rate", "at an epoch's last update"),
    }
    by_arm = {str(arm): table for arm, table in epochs.groupby("arm")}
    styles = styles_of(recipe, a_colour_each=runs is None)
    bits = f"bits a {task.loss_of}"
    own_rates = _peaks_are_far_apart(recipe, by_arm)
    missing = {} if runs is None else _missing(runs)
    rows = [
        _row(row, arms, panels, bits, by_arm, styles, missing, own_rates)
        for row, arms in recipe.rows_of(by_arm).items()
    ]
    rows, shown = with_few_bands(rows)
    seeds = f"{named_seeds(epochs['seed'])}: {shown}"
    notes = dict.fromkeys(task.epoch_note(of_arm.iloc[0].to_dict()) for of_arm in by_arm.values())
    subtitle = " · ".join(filter(None, (scope, seeds, *notes)))
    return Drawing(CURVES, recipe.heading, subtitle, rows, (4, 3), legend_columns=3, share_y="col")


def _row(
    row: str,
    arms: list[Arm],
    panels: dict[str, tuple[str, str]],
    bits: str,
    by_arm: dict[str, pd.DataFrame],
    styles: dict[str, LineStyle],
    missing: dict[str, str],
    own_rates: bool,
) -> list[Panel]:
    shown = [(arm.label_in_row, missing.get(arm.name, ""), by_arm[arm.name]) for arm in arms]
    return [
        Panel(
            title=f"{row}\n{title}" if row else title,
            x_label="epoch",
            y_label=y_label,
            lines=[line(f"{label}{note}", styles[label], table, "epoch", column) for label, note, table in shown],
            whole=True,
            bits=bits if column == LOSS else "",
            own_y=own_rates and column == "lr",
        )
        for column, (title, y_label) in panels.items()
    ]


def _peaks_are_far_apart(recipe: Recipe, by_arm: dict[str, pd.DataFrame]) -> bool:
    """Return whether the greatest rates of two rows are so far apart, as those of Adam and SGD, that one scale would
    show the smaller one as zero.
    """
    peaks = [max(by_arm[arm.name]["lr"].max() for arm in arms) for arms in recipe.rows_of(by_arm).values()]
    return max(peaks, default=0) > FAR_APART * min(peaks, default=0)


def _missing(runs: pd.DataFrame) -> dict[str, str]:
    """Return how many runs of an arm reach its end, in words, by arm; only of arms that lack some of the seeds.

    A run that diverged has no later epoch, so that a mean may fall where it is gone.
    """
    seeds = runs.groupby("arm")["seed"].nunique()
    at_the_end = runs[runs["status"] != "diverged"].groupby("arm")["seed"].nunique().reindex(seeds.index, fill_value=0)
    most = seeds.max()
    return {str(arm): f" ({n} of {most} seeds at the end)" for arm, n in at_the_end.items() if n < most}

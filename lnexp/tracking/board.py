"""Define the board of a wandb project; see docs/dashboards.md."""

import wandb_workspaces.reports.v2 as panels
import wandb_workspaces.workspaces as workspaces

from lnexp.tasks import all_tasks
from lnexp.tracking.tracker import chart_name

#: How runs are grouped, from the outside in; the runs of a group differ in their seeds.
GROUPS = ("recipe", "arm")


def board(entity: str, project: str) -> workspaces.Workspace:
    """Return a view of a project; only saving it needs the user's key.

    Args:
        entity: the user or team.
        project: ``tracker.project`` of the runs.
    """
    return workspaces.Workspace(
        entity=entity,
        project=project,
        name="lnexp: layer normalization and warm-up",
        sections=[_curves(), _outcomes(), _gradients(), *_samples(), _speed()],
        runset_settings=workspaces.RunsetSettings(groupby=[workspaces.Config(name) for name in GROUPS]),
    )


def _line(title: str, metric: str, log_y: bool = False) -> panels.LinePlot:
    """Return a plot by epoch, a line an arm: the mean over its seeds in a band from the least to the greatest.

    Args:
        title: what people read.
        metric: a key of ``epoch`` records.
        log_y: whether the axis is logarithmic.
    """
    return panels.LinePlot(
        title=title,
        x="epoch",
        y=[chart_name(metric)],
        log_y=log_y,
        groupby=panels.Config("arm"),
        groupby_aggfunc="mean",
        groupby_rangefunc="minmax",
    )


def _curves() -> workspaces.Section:
    *some, last = dict.fromkeys(task.loss_of for task in all_tasks())
    nats = f"nats a {', '.join(some)} or {last}"
    return workspaces.Section(
        name="Figures of the paper",
        is_open=True,
        panels=[
            *(_line(f"validation {task.score.title}", task.score.valid) for task in all_tasks()),
            _line(f"validation nll ({nats})", "valid_nll"),
            _line(f"validation loss ({nats})", "valid_loss"),
            _line("learning rate", "lr"),
            _line("gradient norm before clipping", "grad_norm", log_y=True),
        ],
    )


def _outcomes() -> workspaces.Section:
    columns = ("placement", "optimizer_name", "warmup_updates", "lr_max")
    return workspaces.Section(
        name="Who trains",
        is_open=True,
        panels=[
            panel
            for score in (task.score for task in all_tasks())
            for panel in (
                _bars(f"best validation {score.title}", score.best),
                _bars(f"test {score.title}", score.test),
                panels.ParallelCoordinatesPlot(
                    columns=[
                        *(panels.ParallelCoordinatesPlotColumn(panels.Config(name)) for name in columns),
                        panels.ParallelCoordinatesPlotColumn(panels.SummaryMetric(score.best)),
                    ]
                ),
            )
        ],
    )


def _bars(title: str, metric: str) -> panels.BarPlot:
    return panels.BarPlot(title=title, metrics=[metric], groupby=panels.Config("arm"))


def _gradients() -> workspaces.Section:
    shown = {"gradient of W²": r"W2\.grad_norm", "hidden states": "output"}
    return workspaces.Section(
        name="Gradients and hidden states by layer",
        panels=[
            panels.LinePlot(title=f"{what}, {side}", x="Step", metric_regex=rf"probe/{side}\.\d+\.{name}", log_y=True)
            for side in dict.fromkeys(side for task in all_tasks() for side in task.sides)
            for what, name in shown.items()
        ],
    )


def _samples() -> list[workspaces.Section]:
    titles = filter(None, (task.samples_title for task in all_tasks()))
    table = panels.WeavePanelSummaryTable(table_name="samples")
    return [workspaces.Section(name=title, panels=[table]) for title in titles]


def _speed() -> workspaces.Section:
    return workspaces.Section(
        name="Speed", panels=[_line("tokens a second", "tokens_per_second"), _line("seconds an epoch", "seconds")]
    )

"""The board that a project of ours has in wandb, as a definition; see docs/dashboards.md."""

import wandb_workspaces.reports.v2 as panels
import wandb_workspaces.workspaces as workspaces

#: What sets runs apart, from the outside in: seeds are what is left.
GROUPS = ("recipe", "arm")


def board(entity: str, project: str) -> workspaces.Workspace:
    """A saved view; :meth:`save` of it needs the user's key, building it does not.

    Args:
        entity: the user or team.
        project: ``tracker.project`` of the runs.
    """
    return workspaces.Workspace(
        entity=entity,
        project=project,
        name="lnexp: layer normalization and warm-up",
        sections=[_curves(), _outcomes(), _gradients(), _translations(), _speed()],
        runset_settings=workspaces.RunsetSettings(groupby=[workspaces.Config(name) for name in GROUPS]),
    )


def _line(title: str, metric: str, log_y: bool = False) -> panels.LinePlot:
    """Against epoch, an arm a line: the mean over its seeds in a band from the least to the greatest."""
    return panels.LinePlot(
        title=title,
        x="epoch",
        y=[metric],
        log_y=log_y,
        groupby=panels.Config("arm"),
        groupby_aggfunc="mean",
        groupby_rangefunc="minmax",
    )


def _curves() -> workspaces.Section:
    return workspaces.Section(
        name="Figures of the paper",
        is_open=True,
        panels=[
            _line("validation loss (nats a token)", "valid_loss"),
            _line("validation nll (nats a token)", "valid_nll"),
            _line("validation BLEU", "valid_bleu"),
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
            panels.BarPlot(title="best validation BLEU", metrics=["best_valid_bleu"], groupby=panels.Config("arm")),
            panels.BarPlot(title="test BLEU", metrics=["test_bleu"], groupby=panels.Config("arm")),
            panels.ParallelCoordinatesPlot(
                columns=[
                    *(panels.ParallelCoordinatesPlotColumn(panels.Config(name)) for name in columns),
                    panels.ParallelCoordinatesPlotColumn(panels.SummaryMetric("best_valid_bleu")),
                ]
            ),
        ],
    )


def _gradients() -> workspaces.Section:
    shown = {"gradient of W²": r"W2\.grad_norm", "hidden states": "output"}
    return workspaces.Section(
        name="Gradients and hidden states by layer",
        panels=[
            panels.LinePlot(title=f"{what}, {side}", x="Step", metric_regex=rf"probe/{side}\.\d+\.{name}", log_y=True)
            for side in ("encoder", "decoder")
            for what, name in shown.items()
        ],
    )


def _translations() -> workspaces.Section:
    return workspaces.Section(
        name="Translations by epoch", panels=[panels.WeavePanelSummaryTable(table_name="samples")]
    )


def _speed() -> workspaces.Section:
    return workspaces.Section(
        name="Speed", panels=[_line("tokens a second", "tokens_per_second"), _line("seconds an epoch", "seconds")]
    )

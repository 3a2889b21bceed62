"""How many runs are launched: Hydra plugins of ours. joblib and SLURM come from Hydra's own packages."""


def register_plugins() -> None:
    """Make our plugins known to Hydra.

    Hydra takes plugins from the namespace ``hydra_plugins`` alone, so ours are registered under a name in it.
    """
    from hydra.core.plugins import Plugins

    from lnexp.launchers.recipe_sweeper import RecipeSweeper

    RecipeSweeper.__module__ = "hydra_plugins.lnexp"
    Plugins.instance().register(RecipeSweeper)

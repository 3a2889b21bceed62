"""How many runs are launched: Hydra plugins of ours. joblib and SLURM come from Hydra's own packages."""

import sys


def register_plugins() -> None:
    """Make our plugins known to Hydra, as ``hydra_plugins.lnexp.<class>``: it takes them from that namespace alone."""
    from hydra.core.plugins import Plugins

    from lnexp.configuration import forget_schemas

    known = Plugins.instance().class_name_to_class  # first: it loads Hydra's own plugins anew, our base classes too
    from lnexp.launchers import recipe_sweeper

    sys.modules["hydra_plugins.lnexp"] = recipe_sweeper
    forget_schemas()
    known["hydra_plugins.lnexp.RecipeSweeper"] = recipe_sweeper.RecipeSweeper

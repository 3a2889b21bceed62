"""Launch runs: the command, and our Hydra plugins. That for joblib comes from Hydra's own package."""

import sys
from types import ModuleType


def register_plugins() -> None:
    """Make our plugins known to Hydra, as ``hydra_plugins.lnexp.<class>``: it takes them from that namespace alone."""
    from hydra.core.plugins import Plugins

    known = Plugins.instance().class_name_to_class  # first: it loads Hydra's own plugins anew, our base classes too
    from lnexp.launchers.array_launcher import ArrayLauncher
    from lnexp.launchers.recipe_sweeper import RecipeSweeper
    from lnexp.launchers.submitit_launcher import LocalLauncher, SlurmLauncher
    from lnexp.launchers.torchrun_launcher import TorchrunLauncher

    module = ModuleType("hydra_plugins.lnexp")
    ours = (ArrayLauncher, LocalLauncher, RecipeSweeper, SlurmLauncher, TorchrunLauncher)
    plugins = {plugin.__name__: plugin for plugin in ours}
    vars(module).update(plugins)
    sys.modules[module.__name__] = module
    known.update({f"{module.__name__}.{name}": plugin for name, plugin in plugins.items()})

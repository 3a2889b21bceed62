"""One file a probe; a recipe asks for it by the name of its function."""

from lnexp.plugin.discovery import import_all_modules

import_all_modules(__name__, __path__)

"""The measurements of the theory, one a file; a recipe asks for one by the name of its function."""

from lnexp.plugin.discovery import import_all_modules

import_all_modules(__name__, __path__)

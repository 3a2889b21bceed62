"""The diagnostics of snapshots, one a file."""

from lnexp.plugin.discovery import import_all_modules

import_all_modules(__name__, __path__)

"""Interventions, one a file; ``configs/intervention`` has a file for each."""

from lnexp.plugin.discovery import import_all_modules

import_all_modules(__name__, __path__)

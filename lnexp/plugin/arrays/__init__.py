"""Arrays: many models trained as one. Model, criterion, optimizer and schedule, registered as ``lnexp_array``."""

from ..discovery import import_all_modules

import_all_modules(__name__, __path__)

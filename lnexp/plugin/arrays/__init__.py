"""Many models trained as one: what fairseq needs for it, each registered as ``lnexp_array``."""

from ..discovery import import_all_modules

import_all_modules(__name__, __path__)

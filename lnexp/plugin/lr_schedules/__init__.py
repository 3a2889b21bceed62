"""Learning-rate schedules, one file each, registered with fairseq as ``lnexp_<name>``."""

from ..discovery import import_all_modules

import_all_modules(__name__, __path__)

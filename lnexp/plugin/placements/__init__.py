"""Placements, one file each; each becomes the fairseq model ``lnexp_<placement>``."""

from ..discovery import import_all_modules

import_all_modules(__name__, __path__)

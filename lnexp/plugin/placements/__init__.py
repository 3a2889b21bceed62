"""Placements, one file each; each becomes the fairseq model ``lnexp_<placement>``, whose options ``--help`` lists."""

from ..discovery import import_all_modules
from ..stock_help import answer_help_last

import_all_modules(__name__, __path__)
answer_help_last()

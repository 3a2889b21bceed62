"""Kinds of normalisation, one file each."""

from ..discovery import import_all_modules

import_all_modules(__name__, __path__)

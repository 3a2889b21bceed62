"""Prepare a corpus: python scripts/prepare_data.py data=NAME [overrides]. Training does this by itself."""

from lnexp.commands.prepare_data import main

if __name__ == "__main__":
    main()

"""Translate sentences with a trained run."""

from lnexp.commands.translate import main

if __name__ == "__main__":
    main()

"""Translate sentences with a trained run."""

from lnexp.training.translate_command import main

if __name__ == "__main__":
    main()

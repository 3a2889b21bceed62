"""Translate sentences with a trained run."""

from lnexp.tasks.translation.translate_command import main

if __name__ == "__main__":
    main()

"""Measure what the paper's analysis is about and judge its claims, or probe one model."""

from lnexp.commands.probe import main

if __name__ == "__main__":
    main()

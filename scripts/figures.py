"""Draw the figures of results again: PNG, SVG and PDF."""

from lnexp.figures.command import main

if __name__ == "__main__":
    main()

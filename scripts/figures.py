"""Draw the figures of all results again, as PNG, SVG and PDF."""

from lnexp.commands.figures import main

if __name__ == "__main__":
    main()

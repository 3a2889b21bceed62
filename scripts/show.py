"""Show one run: its state, its curves and its scores."""

from lnexp.commands.show import main

if __name__ == "__main__":
    main()

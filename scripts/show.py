"""Show one run: its state, its curves and its scores."""

from lnexp.runs.show_command import main

if __name__ == "__main__":
    main()

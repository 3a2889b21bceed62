"""Train the runs of recipes, then write their tables, figures and verdicts."""

from lnexp.commands.reproduce import main

if __name__ == "__main__":
    main()

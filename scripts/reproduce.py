"""Train the runs of recipes, then write their tables, figures and verdicts."""

from lnexp.reproduce import main

if __name__ == "__main__":
    main()

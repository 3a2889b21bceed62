"""Make tables, figures and verdicts of recipes from their run folders."""

from lnexp.results.command import collect_main

if __name__ == "__main__":
    collect_main()

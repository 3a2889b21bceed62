"""Write tables, figures and verdicts of recipes from their run folders."""

from lnexp.results.collect_command import main

if __name__ == "__main__":
    main()

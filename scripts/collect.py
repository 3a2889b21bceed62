"""Write tables, figures and verdicts of recipes from their run folders."""

from lnexp.commands.collect import main

if __name__ == "__main__":
    main()

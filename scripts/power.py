"""Say how many seeds claims need to be decided with 80% power."""

from lnexp.commands.power import main

if __name__ == "__main__":
    main()

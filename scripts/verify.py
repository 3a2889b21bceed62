"""Print the verdict of every claim; exit with 1 where a result is malformed."""

from lnexp.commands.verify import main

if __name__ == "__main__":
    main()

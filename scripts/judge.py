"""Judge published results again, from their tables."""

from lnexp.commands.judge import main

if __name__ == "__main__":
    main()

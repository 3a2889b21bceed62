"""Train what recipes ask for, then make their tables, figures and verdicts."""

from lnexp.reproduce import main

if __name__ == "__main__":
    main()

"""Compare the test scores of two arms by a bootstrap over seeds and sentences."""

from lnexp.commands.bootstrap import main

if __name__ == "__main__":
    main()

"""Write one self-contained HTML page of results and runs."""

from lnexp.commands.report import main

if __name__ == "__main__":
    main()

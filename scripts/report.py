"""Make one self-contained HTML page of results."""

from lnexp.report.command import main

if __name__ == "__main__":
    main()

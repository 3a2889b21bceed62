"""Print the verdict of every claim; exit 1 where a result is malformed."""

from lnexp.results.command import verify_main

if __name__ == "__main__":
    verify_main()

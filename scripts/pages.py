"""Write what published results say into README.md and docs/."""

from lnexp.results.pages_command import main

if __name__ == "__main__":
    main()

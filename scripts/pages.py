"""Write what published results say into README.md and docs/."""

from lnexp.commands.pages import main

if __name__ == "__main__":
    main()

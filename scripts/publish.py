"""Move results of this machine into the published ones."""

from lnexp.commands.publish import main

if __name__ == "__main__":
    main()

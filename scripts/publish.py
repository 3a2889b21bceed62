"""Move results of this machine into the published ones."""

from lnexp.results.publish_command import main

if __name__ == "__main__":
    main()

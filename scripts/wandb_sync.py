"""Upload the runs that were tracked offline."""

from lnexp.tracking.sync_command import main

if __name__ == "__main__":
    main()

"""Say what runs will take of time, memory and disk, before they are started."""

from lnexp.planning.command import main

if __name__ == "__main__":
    main()

"""Print the time, memory and disk that runs will take, before they are started."""

from lnexp.commands.plan import main

if __name__ == "__main__":
    main()

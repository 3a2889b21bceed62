"""Show the state of the newest sweep: arm, seed, state, epoch, score, speed, time left."""

from lnexp.commands.status import main

if __name__ == "__main__":
    main()

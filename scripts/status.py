"""Show the state of the newest sweep: arm, seed, state, epoch, score, speed, time left."""

from lnexp.runs.status_command import main

if __name__ == "__main__":
    main()

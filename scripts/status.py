"""Show how the newest sweep stands: arm, seed, state, epoch, BLEU so far, speed, time left."""

from lnexp.runs.status_command import main

if __name__ == "__main__":
    main()

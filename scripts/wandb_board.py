"""Save the board of our runs in a wandb project."""

from lnexp.tracking.board_command import main

if __name__ == "__main__":
    main()

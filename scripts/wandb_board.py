"""Save the board of our runs in a wandb project."""

from lnexp.commands.wandb_board import main

if __name__ == "__main__":
    main()

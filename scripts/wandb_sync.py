"""Upload the runs that were tracked offline."""

from lnexp.commands.wandb_sync import main

if __name__ == "__main__":
    main()

"""Train one run, or a sweep with -m; see configs/train.yaml and docs/running.md."""

from lnexp.commands.train import main

if __name__ == "__main__":
    main()

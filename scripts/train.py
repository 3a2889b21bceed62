"""Train one run, or sweep many with -m; see configs/train.yaml and README.md."""

from lnexp.launchers.command import main

if __name__ == "__main__":
    main()

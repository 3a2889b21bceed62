"""Time training against stock fairseq, preparing against sacremoses alone, and the answers to --help and mistakes."""

from lnexp.benchmarks.command import main

if __name__ == "__main__":
    main()

"""Run all benchmarks: training, translating, preparing and collecting, and the overhead of commands."""

from lnexp.commands.bench import main

if __name__ == "__main__":
    main()

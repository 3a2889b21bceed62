"""Statistics over seeds: intervals, success rates, power, the bootstrap. Nothing here reads a file."""

"""Statistics over seeds: intervals, power, the bootstrap. Nothing here reads a file."""

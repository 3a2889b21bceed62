"""Statistics over seeds: intervals, success rates, power, Holm's correction. Nothing here reads a file."""

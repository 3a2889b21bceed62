"""Tables of runs: the rows of runs.csv, epochs.csv and the like, and what differs between runs."""

"""Training: a single run, or the runs of an array, from a resolved config to records and checkpoints."""

"""Tables of runs, and the folders of results that they are written to."""

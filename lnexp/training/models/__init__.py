"""What one trainer trains, behind one interface: the model of a single run, or those of an array of runs."""

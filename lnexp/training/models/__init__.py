"""Train the model of a single run, or those of an array, behind one interface: :class:`.base.Models`."""

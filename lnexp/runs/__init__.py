"""A run's identity, its folder, its records and its status."""

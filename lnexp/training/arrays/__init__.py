"""Training many runs as one model."""

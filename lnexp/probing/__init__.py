"""Measurements before training, for recipes of the theory, and probes of one model."""

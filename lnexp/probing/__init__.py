"""Measurements of models, before training and of trained runs, and probes of one model."""

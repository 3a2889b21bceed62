"""Run ``scripts/probe.py``: measure recipes of the theory, or probe one model."""

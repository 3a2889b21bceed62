"""Benchmarks of ``scripts/bench.py``: ratios of speeds measured in one run, as medians. They are no tests."""

"""Figures of results: as data, and drawn for a paper."""

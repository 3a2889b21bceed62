"""Recipes: the figures of the paper as data. One YAML file each in ``recipes/``."""

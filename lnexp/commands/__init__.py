"""The commands: a module for each of ``scripts/``, of the same name, with its ``main``."""

"""The command that probes: recipes with their verdicts, or one model."""

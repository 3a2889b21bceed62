"""Claims, their tests and verdicts, and when each was registered."""

"""What runs and probes say, read from their folders or from published tables, and who made them."""

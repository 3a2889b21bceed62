"""Speed, as ratios measured in one run, with medians. Never a test."""

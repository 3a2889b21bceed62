"""wandb: runs tracked from their records, boards, and uploads."""

"""wandb, fed from our own records: runs, tables, boards, and uploading them."""

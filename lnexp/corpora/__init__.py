"""From nothing to binarised parallel text. Knows no model."""

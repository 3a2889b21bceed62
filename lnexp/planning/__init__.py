"""What runs will cost, before they are started."""

"""Planning: what runs will cost, before they are started."""

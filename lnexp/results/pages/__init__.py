"""Pages and screens for people, made of published results."""

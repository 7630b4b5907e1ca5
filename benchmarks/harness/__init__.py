"""What runs the adapters, measures them and tells how they compare."""

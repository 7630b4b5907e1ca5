"""Slots of time, each to be done once."""

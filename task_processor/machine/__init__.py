"""Work that goes from state to state."""

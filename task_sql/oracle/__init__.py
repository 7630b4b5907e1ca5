"""topiq on Oracle."""

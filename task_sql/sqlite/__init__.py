"""topiq on SQLite."""

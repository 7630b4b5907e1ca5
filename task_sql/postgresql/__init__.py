"""topiq on PostgreSQL."""

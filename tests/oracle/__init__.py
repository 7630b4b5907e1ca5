"""Oracle, proved in layers: static checks, a double that executes on PostgreSQL, and a server where there is one."""

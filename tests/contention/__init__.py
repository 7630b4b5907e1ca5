"""
The promises of DESIGN.md under real concurrency.

Races run the same roles everywhere: in threads with a connection each on PostgreSQL, in processes on SQLite,
where a second writer in the same process would prove little. Interleavings that must happen in one certain
order use actors: threads that do one call at a time and can be seen to wait for a lock.
"""

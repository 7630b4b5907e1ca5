SELECT value FROM v$option WHERE parameter = 'Partitioning'

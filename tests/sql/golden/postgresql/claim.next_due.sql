SELECT min(due) FROM task WHERE topic = %(topic)s AND state = 4 AND due IS NOT NULL AND waits IS NULL

DELETE FROM task_owner AS o
WHERE o.owner <> %(owner)s AND o.heartbeat < statement_timestamp() + CAST(%(timeout)s AS interval)
AND NOT EXISTS (SELECT FROM task AS t WHERE t.owner = o.owner)

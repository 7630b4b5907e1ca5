DELETE FROM task_owner
WHERE owner <> :owner AND heartbeat < strftime('%Y-%m-%d %H:%M:%f', 'now', :timeout)
AND NOT EXISTS (SELECT 1 FROM task WHERE task.owner = task_owner.owner)

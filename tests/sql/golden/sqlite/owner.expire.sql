UPDATE task SET state = 2
WHERE state = 0 AND task.state <= 4 AND task.state <> 1 AND (
    lease <= strftime('%Y-%m-%d %H:%M:%f', 'now')
    OR owner <> :owner AND NOT EXISTS (
        SELECT 1 FROM task_owner AS o WHERE o.owner = task.owner AND o.heartbeat >= strftime('%Y-%m-%d %H:%M:%f', 'now', :timeout))
)

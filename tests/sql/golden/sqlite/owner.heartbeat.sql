UPDATE task_owner SET heartbeat = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE owner = :owner

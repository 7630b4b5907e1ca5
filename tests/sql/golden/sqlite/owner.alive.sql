SELECT owner FROM task_owner WHERE owner <> :owner AND heartbeat > strftime('%Y-%m-%d %H:%M:%f', 'now', :timeout)

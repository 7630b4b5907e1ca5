SELECT owner FROM task_owner WHERE owner <> %(owner)s AND heartbeat > statement_timestamp() + CAST(%(timeout)s AS interval)

UPDATE task_owner SET heartbeat = statement_timestamp() WHERE owner = %(owner)s

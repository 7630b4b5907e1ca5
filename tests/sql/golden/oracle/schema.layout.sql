SELECT version, partitioned, notify FROM task_schema

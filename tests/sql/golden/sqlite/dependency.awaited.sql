SELECT DISTINCT after_sequence FROM task_dependency WHERE after_sequence IN (SELECT value FROM json_each(:given)) AND signal <> 1

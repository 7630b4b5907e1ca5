SELECT run_topic, run_sequence, after_sequence, signal FROM task_dependency INDEXED BY task_dependency_after
WHERE after_sequence IN (SELECT value FROM json_each(:given)) AND signal <> 1

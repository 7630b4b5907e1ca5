SELECT 1 FROM task_dependency LIMIT 1

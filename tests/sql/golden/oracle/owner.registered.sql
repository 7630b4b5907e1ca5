SELECT 1 FROM task_owner WHERE owner = :owner

DELETE FROM task_mutex WHERE hash = :hash

DELETE FROM task_dependency WHERE run_sequence IN (SELECT value FROM json_each(:given))

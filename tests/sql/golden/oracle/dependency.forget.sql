DELETE FROM task_dependency d WHERE d.run_sequence = :sequence

UPDATE task_dependency d SET d.run_sequence = :other WHERE d.run_sequence = :sequence

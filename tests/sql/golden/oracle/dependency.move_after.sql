UPDATE task_dependency d SET d.after_sequence = :other WHERE d.after_sequence = :sequence AND d.signal = 0

UPDATE task_dependency d SET d.signal = :signal
WHERE d.run_sequence = :sequence AND d.after_sequence = :after AND d.signal <> :signal

DELETE FROM temp.task_claim WHERE era <> :era

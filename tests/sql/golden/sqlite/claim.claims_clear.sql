DELETE FROM temp.task_claim

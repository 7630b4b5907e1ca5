INSERT INTO temp.task_claim (sequence, topic, identifier) VALUES (?, ?, ?)

REPLACE INTO temp.task_claim (sequence, token, owner, topic, identifier) VALUES (?, ?, ?, ?, ?)

REPLACE INTO temp.task_claim (era, topic, owner, sequence, identifier, token) VALUES (?, ?, ?, ?, ?, ?)

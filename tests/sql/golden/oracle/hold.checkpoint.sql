-- COMMITTED
UPDATE task t SET t.input = :input
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 0 AND t.owner = :owner AND t.token = :token

-- TRANSACTION
UPDATE task t SET t.input = :input
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1 AND t.token = :token - 1 AND EXISTS (
    SELECT 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1 AND c.owner = :owner)

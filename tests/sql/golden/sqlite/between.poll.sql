-- COMMITTED
UPDATE task SET
    state = 0, owner = :owner, attempt = attempt + 1, token = token + 1,
    polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), lease = strftime('%Y-%m-%d %H:%M:%f', 'now', :lease)
WHERE sequence IN (
    SELECT t.sequence FROM task AS t INDEXED BY task_listed
    WHERE t.state = 1 AND (t.listed = 1 OR t.token > 0) AND t.topic = :topic AND t.identifier >= :low AND t.identifier < :high
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    ORDER BY t.identifier, t.sequence LIMIT 1
)
RETURNING sequence, identifier, input, attempt, token, failed

-- TRANSACTION
SELECT t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed FROM task AS t INDEXED BY task_listed
    WHERE t.state = 1 AND (t.listed = 1 OR t.token > 0) AND t.topic = :topic AND t.identifier >= :low AND t.identifier < :high
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = t.token + 1)
    ORDER BY t.identifier, t.sequence LIMIT 1

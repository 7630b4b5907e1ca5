-- COMMITTED
UPDATE task AS t SET state = :state, output = :output, completed = strftime('%Y-%m-%d %H:%M:%f', 'now'), due = coalesce(:due, strftime('%Y-%m-%d %H:%M:%f', 'now', :delay))
WHERE t.sequence = :sequence AND t.topic = :topic AND t.state = 0 AND t.owner = :owner AND t.token = :token

-- TRANSACTION
UPDATE task AS t SET owner = :owner, attempt = attempt + 1, token = token + 1, polled = strftime('%Y-%m-%d %H:%M:%f', 'now'), state = :state, output = :output, completed = strftime('%Y-%m-%d %H:%M:%f', 'now'), due = coalesce(:due, strftime('%Y-%m-%d %H:%M:%f', 'now', :delay))
WHERE t.sequence = :sequence AND t.topic = :topic AND t.state = 1 AND t.token = :token - 1 AND EXISTS (SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = :token AND c.owner = :owner)

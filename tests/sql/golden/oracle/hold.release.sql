UPDATE task t SET t.state = 1, t.attempt = GREATEST(t.attempt - 1, 0), t.lease = NULL
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 0 AND t.owner = :owner AND t.token = :token

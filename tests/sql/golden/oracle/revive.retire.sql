UPDATE task t SET t.state = 7, t.descent = GREATEST(t.descent, t.state) WHERE t.topic = :topic AND t.sequence = :sequence

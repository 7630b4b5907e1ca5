SELECT EXISTS (
    SELECT t.sequence FROM task_topic AS p
    CROSS JOIN task AS t INDEXED BY task_ready ON t.topic = p.topic AND t.state = 1 AND t.sequence > p.listed
    WHERE p.topic = :topic)

UPDATE task t SET
    t.state = 3, t.descent = GREATEST(t.descent, t.state), t.completed = SYS_EXTRACT_UTC(SYSTIMESTAMP), t.output = TO_CLOB(:message)
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 4

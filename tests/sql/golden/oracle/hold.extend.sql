UPDATE task t SET t.lease = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 0 AND t.owner = :owner AND t.token = :token

INSERT INTO task (topic, identifier, reference, state, due, input)
VALUES (:topic, :identifier, :reference, :state, COALESCE(TO_TIMESTAMP(:due, 'YYYY-MM-DD HH24:MI:SS.FF6'), SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:delay, 'SECOND')), :input)
RETURNING sequence INTO :sequence

SELECT owner FROM task_owner WHERE owner <> :owner AND heartbeat > SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:timeout, 'SECOND')

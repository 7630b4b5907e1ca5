UPDATE task_owner SET heartbeat = SYS_EXTRACT_UTC(SYSTIMESTAMP) WHERE owner = :owner

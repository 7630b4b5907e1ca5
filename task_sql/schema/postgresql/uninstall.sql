-- topiq, everything removed

DROP VIEW IF EXISTS task_pretty;

DROP FUNCTION IF EXISTS task_initialize(text);

DROP FUNCTION IF EXISTS task_claimed(xid);

DROP TABLE IF EXISTS task, task_topic, task_owner, task_activation, task_mutex, task_schema;

DROP SEQUENCE IF EXISTS task_sequence;

-- topiq, everything removed

DROP VIEW task_pretty;

DROP TABLE task PURGE;

DROP TABLE task_dependency PURGE;

DROP TABLE task_claim;

DROP TABLE task_slot PURGE;

DROP TABLE task_mutex PURGE;

DROP TABLE task_topic PURGE;

DROP TABLE task_owner PURGE;

DROP TABLE task_activation PURGE;

DROP SEQUENCE task_sequence;

DROP TABLE task_schema PURGE;

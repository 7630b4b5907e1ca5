-- topiq, everything removed

DROP VIEW IF EXISTS task_pretty;

DROP TABLE IF EXISTS task;

DROP TABLE IF EXISTS task_number;

DROP TABLE IF EXISTS task_dependency;

DROP TABLE IF EXISTS task_topic;

DROP TABLE IF EXISTS task_owner;

DROP TABLE IF EXISTS task_activation;

DROP TABLE IF EXISTS task_schema;

-- topiq, everything removed

DROP VIEW IF EXISTS task_pretty;

DROP VIEW IF EXISTS task_specimen;

DROP FUNCTION IF EXISTS task_initialize(text), task_known(text), task_plan(), task_loosen(regclass),
    task_push(text, text, text, text, smallint, timestamptz, boolean),
    task_poll(text, text, bigint, interval, bigint, boolean, boolean, boolean),
    task_probe(text, bigint), task_own(text), task_try(text, text, boolean),
    task_candidates(text, text, bigint, bigint, bigint, integer[], boolean, boolean, boolean),
    task_candidates_among(text, text, bigint, bigint, bigint, text[], integer[], boolean, boolean),
    task_decide(text, text, bigint[], integer, smallint, text, timestamptz),
    task_decide_claimed(text, text, bigint[], integer, smallint, text, timestamptz);

DROP TABLE IF EXISTS task, task_dependency, task_topic, task_owner, task_activation, task_mutex, task_schema;

DROP SEQUENCE IF EXISTS task_sequence;

DROP DOMAIN IF EXISTS task_state, task_descent;

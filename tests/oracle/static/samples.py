"""Statements that show what the parser is worth."""

from __future__ import annotations

from typing import Final

WRONG: Final = {
    "a column too many": "SELECT t.sequence, FROM task t",
    "an open parenthesis": "SELECT t.sequence FROM task t WHERE (t.state = 1",
    "AS before the alias of a table": "SELECT t.sequence FROM task AS t",
    "AS before the alias of a query": "SELECT x.a FROM (SELECT 1 AS a FROM DUAL) AS x",
    "AS in UPDATE": "UPDATE task AS t SET t.state = 1",
    "a limit of others": "SELECT t.sequence FROM task t LIMIT 5",
    "a lock that is cut off": "SELECT t.sequence FROM task t ORDER BY t.sequence FOR UPDATE SKIP",
    "a cast of others": "SELECT t.state::int FROM task t",
    "an upsert of others": "INSERT INTO task_topic (topic) VALUES (:topic) ON CONFLICT DO NOTHING",
    "RETURNING without INTO": "INSERT INTO task (topic) VALUES (:topic) RETURNING sequence",
    "RETURNING of a query": "INSERT INTO task (topic) SELECT t.topic FROM task t RETURNING sequence INTO :sequence",
    "two rows of VALUES": "INSERT INTO task_topic (topic) VALUES (:one), (:other)",
    "UPDATE from another table": "UPDATE task t SET t.state = s.state FROM task_slot s WHERE s.slot = t.sequence",
    "a MERGE without parentheses": (
        "MERGE INTO task_topic t USING DUAL ON t.topic = :topic WHEN NOT MATCHED THEN INSERT (topic) VALUES (:topic)"
    ),
    "a MERGE that names its table twice": (
        "MERGE INTO task_topic t USING DUAL ON (t.topic = :topic)"
        " WHEN NOT MATCHED THEN INSERT INTO task_topic (topic) VALUES (:topic)"
    ),
    "a filtered aggregate": "SELECT COUNT(*) FILTER (WHERE t.state = 1) FROM task t",
    "a DEFAULT after NOT NULL": "CREATE TABLE task (state NUMBER(1) NOT NULL DEFAULT 1)",
    "a partial index": "CREATE INDEX task_ready ON task (sequence) WHERE state = 1",
    "a table if there is none": "CREATE TABLE IF NOT EXISTS task (state NUMBER(1))",
    "a comma at the end": "CREATE TABLE task (state NUMBER(1), )",
    "a cache without a size": "CREATE SEQUENCE task_sequence CACHE ORDER",
    "two statements": "DROP TABLE task PURGE; DROP TABLE task_claim",
    "a grant on two tables": "GRANT SELECT ON task, task_topic TO topiq_reader",
    "a grant to nobody": "GRANT SELECT, INSERT (topic) ON task",
    "no statement": "TASK",
}
"""Statements that Oracle refuses, and the parser too."""

RIGHT: Final = {
    "a lock on an ordered query": (
        "SELECT t.sequence FROM task t WHERE t.topic = :topic AND t.state = 1"
        " ORDER BY t.sequence FOR UPDATE SKIP LOCKED"
    ),
    "a lock beside a subquery that aggregates": (
        "SELECT t.sequence FROM task t WHERE t.state = (SELECT MAX(s.state) FROM task s GROUP BY s.topic)"
        " AND t.sequence IN (SELECT DISTINCT s.sequence FROM task s WHERE ROWNUM < 9 FETCH FIRST 1 ROWS ONLY)"
        " FOR UPDATE OF t.state NOWAIT"
    ),
    "a lock on a plain view": "SELECT x.state FROM (SELECT t.state FROM task t) x FOR UPDATE",
    "words that only look like FOR UPDATE": (
        "MERGE INTO task_activation a USING (SELECT :topic AS topic, :active AS active FROM DUAL) s"
        " ON (a.topic = s.topic) WHEN MATCHED THEN UPDATE SET a.active = s.active"
        " WHEN NOT MATCHED THEN INSERT (topic, active) VALUES (s.topic, s.active)"
    ),
    "row limiting without a lock": "SELECT t.state FROM task t ORDER BY t.sequence FETCH FIRST :most ROWS ONLY",
    "AS before the alias of a column": "SELECT t.state AS first_state, MIN(t.due) OVER () AS due FROM task t",
    "AS in a cast, with types": (
        "SELECT CAST(t.state AS NUMBER(1)), CAST(t.topic AS VARCHAR2(9 CHAR)), DATE '2020-01-01' FROM task t"
    ),
    "AS in a WITH": "WITH x AS (SELECT 1 AS a FROM DUAL) SELECT x.a FROM x",
    "a query of the past": "SELECT t.state FROM task AS OF SCN 1 t",
    "FROM in EXTRACT": "SELECT EXTRACT(SECOND FROM t.due) AS seconds FROM task t",
    "a reserved word in quotes": 'SELECT t.state FROM task t WHERE t."SIZE" = 1 FETCH FIRST :"size" ROWS ONLY',
    "words that are not reserved": (
        "SELECT t.sequence, t.token, t.owner, t.input, t.output, t.reference FROM task t"
        " WHERE t.sequence BETWEEN :first AND :last AND t.state = :state AND t.due < :until"
    ),
    "reserved words in texts": "SELECT 'SYSDATE; LIMIT 5 -- TRUE' AS words FROM DUAL",
    "reserved words in comments": "SELECT t.state -- FOR UPDATE; LIMIT 5\nFROM task t /* '' = TRUE */",
    "an apostrophe in a text": "SELECT 'it''s' AS words FROM DUAL",
    "LEVEL where it belongs": "INSERT INTO task_slot (slot) SELECT LEVEL - 1 FROM DUAL CONNECT BY LEVEL <= 65536",
    "START where it belongs": (
        "SELECT t.state FROM task t START WITH t.origin IS NULL CONNECT BY PRIOR t.sequence = t.origin"
    ),
    "NULL that is assigned": "UPDATE task t SET t.due = NULL, t.lease = NULL WHERE t.due IS NOT NULL",
    "NULL as a result": "UPDATE task t SET t.due = CASE WHEN t.state = 4 THEN t.due ELSE NULL END, t.state = 4",
    "ROWNUM around an order": "SELECT x.s FROM (SELECT t.state AS s FROM task t ORDER BY t.due) x WHERE ROWNUM <= 3",
    "RETURNING a few": (
        "UPDATE task t SET t.state = 1 WHERE t.topic = :topic"
        " RETURNING t.sequence, NVL(t.token, 0) INTO :sequence, :token"
    ),
    "RETURNING in a function": "SELECT JSON_VALUE(:given, '$[0]' RETURNING NUMBER) AS n FROM DUAL",
    "a thousand in a list": f"SELECT t.state FROM task t WHERE t.sequence IN ({', '.join(['1'] * 1000)})",  # noqa: S608
    "numbers for a query with an order within": (
        "INSERT INTO task (sequence, topic) SELECT task_sequence.NEXTVAL, x.topic"
        " FROM (SELECT t.topic FROM task t ORDER BY t.sequence) x"
    ),
    "values that hold commas": "INSERT INTO task (topic, state) VALUES (NVL(:topic, 'a,b'), COALESCE(:a, :b, 1))",
    "all columns of one table": "SELECT t.*, 1 AS one FROM task t",
    "all rows counted": "SELECT t.state, COUNT(*), MAX(t.sequence) FROM task t GROUP BY t.state HAVING COUNT(*) > 1",
    "ANY of a query": "SELECT t.state FROM task t WHERE t.state = ANY (SELECT s.slot FROM task_slot s)",
    "the last ones of a group": (
        "SELECT MAX(t.state) KEEP (DENSE_RANK LAST ORDER BY t.sequence) AS state FROM task t GROUP BY t.topic"
    ),
    "rows of JSON": (
        "SELECT j.n FROM JSON_TABLE(:given, '$[*]' COLUMNS"
        " (n FOR ORDINALITY, a NUMBER(19) PATH '$[0]', b VARCHAR2(9 CHAR) PATH '$[1]', c CLOB PATH '$[2]')) j"
    ),
    "a table with everything": (
        "CREATE TABLE task (topic VARCHAR2(250 CHAR) NOT NULL,"
        " sequence NUMBER(19) DEFAULT task_sequence.NEXTVAL NOT NULL,"
        " state NUMBER(1) DEFAULT 1 NOT NULL, input CLOB, created TIMESTAMP(6) DEFAULT SYS_EXTRACT_UTC(SYSTIMESTAMP),"
        " ready NUMBER(19) GENERATED ALWAYS AS (CASE WHEN state = 1 THEN sequence END) VIRTUAL, UNIQUE (sequence),"
        " CONSTRAINT task_state CHECK (state IN (0, 1)),"
        " CONSTRAINT task_key PRIMARY KEY (topic, sequence) USING INDEX PCTFREE 50 LOCAL)"
        " PCTFREE 30 INITRANS 16 LOB (input) STORE AS SECUREFILE"
        " PARTITION BY LIST (topic) AUTOMATIC (PARTITION task_none VALUES (' ')) ENABLE ROW MOVEMENT"
    ),
    "an index on what is NULL elsewhere": "CREATE INDEX task_ready ON task (CASE WHEN state = 1 THEN topic END) LOCAL",
    "a grant of some columns": "GRANT SELECT, INSERT (topic), UPDATE (state, due), DELETE ON task TO one, other",
    "an emptied partition": "ALTER TABLE task TRUNCATE PARTITION FOR ('a') UPDATE INDEXES",
    "a dropped column": "ALTER TABLE task DROP COLUMN late",
    "a table locked as a whole": "LOCK TABLE task_schema IN EXCLUSIVE MODE",
    "a call": "CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'TASK')",
    "hints": (
        "SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ t.state"
        " FROM JSON_TABLE(:given, '$[*]' COLUMNS (a NUMBER(19) PATH '$[0]')) j JOIN task t ON t.sequence = j.a"
    ),
}
"""Statements that are right, though some look as if they were not."""

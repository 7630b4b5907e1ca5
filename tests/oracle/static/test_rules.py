"""The rules of our own: each refuses what it is for, and none refuses what is right."""

from __future__ import annotations

import pytest

from .rules import RULES, check
from .samples import RIGHT

BROKEN = [
    ("no_program", "BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, 'TASK'); END;"),
    ("no_program", "DECLARE n NUMBER(1); BEGIN n := 1; END;"),
    ("no_program", "CREATE OR REPLACE TRIGGER task_new AFTER INSERT ON task BEGIN NULL; END;"),
    ("no_semicolon", "SELECT t.state FROM task t;"),
    ("no_semicolon", "DROP TABLE task PURGE; DROP TABLE task_claim"),
    ("only_symbols_of_oracle", "SELECT t.state::int FROM task t"),
    ("only_symbols_of_oracle", "SELECT t.sequence % 2 FROM task t"),
    ("only_symbols_of_oracle", "SELECT t.state FROM task t WHERE t.topic = ?"),
    ("only_symbols_of_oracle", "SELECT _state FROM task"),
    ("only_symbols_of_oracle", "SELECT t.state FROM task t WHERE t.topic = 'open"),
    ("parentheses_match", "SELECT t.state FROM task t WHERE (t.state = 1"),
    ("parentheses_match", "SELECT t.state FROM task t WHERE t.state = 1)"),
    ("one_definition", "CREATE TABLE task (state NUMBER(1)) CREATE INDEX task_state ON task (state)"),
    ("one_definition", "DROP TABLE task ALTER TABLE task_slot ADD (more NUMBER(1))"),
    ("selects_from_something", "SELECT 1"),
    ("selects_from_something", "INSERT INTO task_topic (topic) SELECT :topic"),
    ("selects_from_something", "SELECT t.state FROM task t WHERE t.state = (SELECT 1)"),
    ("star_stands_alone", "SELECT *, 1 AS one FROM task"),
    ("selects_into_nothing", "SELECT t.state INTO :state FROM task t"),
    ("no_alias_after_as", "SELECT t.state FROM task AS t"),
    ("no_alias_after_as", "SELECT t.state FROM task t JOIN task_topic AS o ON o.topic = t.topic"),
    ("no_alias_after_as", "SELECT x.a FROM (SELECT 1 AS a FROM DUAL) AS x"),
    ("no_alias_after_as", "DELETE FROM task AS t WHERE t.state = 1"),
    ("no_alias_after_as", "UPDATE task AS t SET t.state = 1"),
    ("no_alias_after_as", "MERGE INTO task AS t USING DUAL ON (t.state = 1) WHEN MATCHED THEN UPDATE SET t.token = 1"),
    (
        "no_alias_after_as",
        "MERGE INTO task t USING DUAL AS d ON (t.state = 1) WHEN MATCHED THEN UPDATE SET t.due = 1",
    ),
    ("returns_into_binds", "INSERT INTO task (topic) VALUES (:topic) RETURNING sequence"),
    ("returns_into_binds", "UPDATE task SET state = 1 RETURNING sequence, token INTO :sequence"),
    ("returns_into_binds", "UPDATE task SET state = 1 RETURNING sequence INTO sequence"),
    ("returns_into_binds", "INSERT INTO task (topic) SELECT t.topic FROM task t RETURNING sequence INTO :sequence"),
    ("inserts_one_row", "INSERT INTO task_topic (topic) VALUES (:one), (:other)"),
    ("inserts_one_row", "SELECT x.a FROM (VALUES (1), (2)) x"),
    ("inserts_one_row", "SELECT x.a FROM (VALUES (1)) x"),
    ("inserts_as_many_as_named", "INSERT INTO task (topic, state) VALUES (:topic)"),
    ("inserts_as_many_as_named", "INSERT INTO task (topic) SELECT t.topic, NVL(t.state, 1) FROM task t"),
    ("inserts_as_many_as_named", "INSERT INTO task (topic, topic) VALUES (:topic, :topic)"),
    (
        "inserts_as_many_as_named",
        "MERGE INTO task_topic t USING DUAL ON (t.topic = :topic) WHEN NOT MATCHED THEN INSERT (topic) VALUES (:a, :b)",
    ),
    ("changes_one_table", "UPDATE task t SET t.state = s.state FROM task_slot s WHERE s.slot = t.sequence"),
    ("changes_one_table", "DELETE FROM task t USING task_slot s WHERE s.slot = t.sequence"),
    ("changes_one_table", "DELETE FROM task t ORDER BY t.sequence"),
    ("with_is_for_queries", "WITH x AS (SELECT 1 AS a FROM DUAL) UPDATE task SET state = 1"),
    ("with_is_for_queries", "SELECT t.a FROM t WHERE t.a IN (WITH x AS (SELECT 1 AS a FROM DUAL) SELECT x.a FROM x)"),
    ("lists_end_at_a_thousand", f"SELECT t.state FROM task t WHERE t.sequence IN ({', '.join(['1'] * 1001)})"),  # noqa: S608
    ("no_phrases_of_others", "INSERT INTO task_topic (topic) VALUES (:topic) ON CONFLICT DO NOTHING"),
    ("no_phrases_of_others", "SELECT t.state FROM task t WHERE t.topic ILIKE 'a'"),
    ("no_phrases_of_others", "SELECT t.state FROM task t WHERE t.owner IS DISTINCT FROM :owner"),
    ("no_phrases_of_others", "SELECT t.state FROM task t EXCEPT SELECT s.slot FROM task_slot s"),
    ("no_functions_of_others", "SELECT NOW() FROM DUAL"),
    ("no_functions_of_others", "SELECT NEXTVAL('task_sequence') FROM DUAL"),
    ("no_limit", "SELECT t.state FROM task t LIMIT 5"),
    ("no_limit", "DELETE FROM task LIMIT :most"),
    ("no_truth", "SELECT a.topic FROM task_activation a WHERE a.active = TRUE"),
    ("no_truth", "CREATE TABLE task_activation (active BOOLEAN)"),
    ("no_presence", "CREATE TABLE IF NOT EXISTS task (state NUMBER(1))"),
    ("no_presence", "DROP TABLE IF EXISTS task"),
    ("no_list_in_a_bind", "SELECT t.state FROM task t WHERE t.sequence = ANY(:sequences)"),
    ("no_reserved_bind", "SELECT t.state FROM task t FETCH FIRST :size ROWS ONLY"),
    ("no_reserved_bind", "SELECT t.state FROM task t WHERE t.token = :Number"),
    ("no_reserved_bind", "SELECT t.state FROM task t WHERE t.sequence > :start"),
    ("no_reserved_name", "SELECT t.size FROM task t"),
    ("no_reserved_name", "SELECT t.state AS number FROM task t"),
    ("no_reserved_name", "SELECT t.state AS level FROM task t"),
    ("no_reserved_name", "SELECT s.slot FROM session s"),
    ("no_reserved_name", "SELECT level FROM task"),
    ("no_reserved_name", "UPDATE task SET mode = 1"),
    ("no_reserved_name", "INSERT INTO task (topic, date) VALUES (:topic, :due)"),
    ("no_reserved_name", "CREATE TABLE task (state NUMBER(1), comment VARCHAR2(10 CHAR))"),
    ("no_reserved_name", "CREATE TABLE task (number NUMBER(1))"),
    ("no_reserved_name", "CREATE TABLE access (state NUMBER(1))"),
    ("no_reserved_name", "CREATE TABLE task (state NUMBER(1), CONSTRAINT check CHECK (state > 0))"),
    ("no_reserved_name", "SELECT j.row FROM JSON_TABLE(:given, '$[*]' COLUMNS (row NUMBER(1) PATH '$')) j"),
    ("no_long_name", f"SELECT t.{'s' * 129} FROM task t"),  # noqa: S608
    ("no_long_name", f"SELECT t.state FROM task t WHERE t.state = :{'s' * 129}"),  # noqa: S608
    ("no_small_letters_in_quotes", 'SELECT t."state" FROM task t'),
    (
        "locks_plain_rows",
        "SELECT t.state FROM task t ORDER BY t.due FETCH FIRST 3 ROWS ONLY FOR UPDATE SKIP LOCKED",
    ),
    ("locks_plain_rows", "SELECT t.state FROM task t OFFSET 3 ROWS FOR UPDATE"),
    ("locks_plain_rows", "SELECT t.state FROM task t WHERE ROWNUM <= 3 FOR UPDATE SKIP LOCKED"),
    ("locks_plain_rows", "SELECT t.state FROM task t WHERE (t.state = 1 AND ROWNUM <= 3) FOR UPDATE"),
    ("locks_plain_rows", "SELECT DISTINCT t.state FROM task t FOR UPDATE"),
    ("locks_plain_rows", "SELECT t.state FROM task t GROUP BY t.state FOR UPDATE"),
    ("locks_plain_rows", "SELECT t.state FROM task t UNION ALL SELECT s.slot FROM task_slot s FOR UPDATE"),
    ("locks_plain_rows", "SELECT NVL(MIN(t.state), 1) FROM task t FOR UPDATE"),
    ("locks_plain_rows", "SELECT t.state, COUNT(*) OVER (PARTITION BY t.state) AS n FROM task t FOR UPDATE"),
    ("locks_plain_rows", "SELECT x.state FROM (SELECT DISTINCT t.state FROM task t) x FOR UPDATE"),
    ("locks_plain_rows", "SELECT x.state FROM (SELECT t.state FROM task t FETCH FIRST 1 ROWS ONLY) x FOR UPDATE"),
    ("locks_at_the_end", "SELECT x.state FROM (SELECT t.state FROM task t FOR UPDATE) x"),
    ("locks_at_the_end", "SELECT t.state FROM task t FOR UPDATE SKIP LOCKED ORDER BY t.sequence"),
    ("locks_at_the_end", "INSERT INTO task_slot (slot) SELECT t.state FROM task t FOR UPDATE"),
    ("no_empty_text", "SELECT t.state FROM task t WHERE t.output = ''"),
    ("no_empty_text", "UPDATE task SET output = ''"),
    ("no_comparison_with_null", "SELECT t.state FROM task t WHERE t.output = NULL"),
    ("no_comparison_with_null", "UPDATE task t SET t.due = NULL WHERE t.topic = :topic AND t.due <> NULL"),
    ("no_comparison_with_null", "UPDATE task t SET t.due = CASE WHEN t.lease = NULL THEN t.due END"),
    ("one_clock", "SELECT SYSDATE FROM DUAL"),
    ("one_clock", "UPDATE task SET completed = CURRENT_TIMESTAMP"),
    ("one_clock", "UPDATE task SET completed = SYSTIMESTAMP"),
    ("one_clock", "UPDATE task SET completed = LOCALTIMESTAMP"),
    ("no_number_before_order", "SELECT t.state FROM task t WHERE ROWNUM <= 3 ORDER BY t.sequence"),
    ("groups_by_columns", "SELECT t.state, COUNT(*) FROM task t GROUP BY 1"),
    ("draws_for_plain_rows", "SELECT task_sequence.NEXTVAL FROM task t ORDER BY t.sequence"),
    ("draws_for_plain_rows", "SELECT DISTINCT task_sequence.NEXTVAL FROM task t"),
    ("draws_for_plain_rows", "SELECT x.n FROM (SELECT task_sequence.NEXTVAL AS n FROM DUAL) x"),
    ("draws_for_plain_rows", "SELECT task_sequence.NEXTVAL FROM DUAL UNION ALL SELECT 1 FROM DUAL"),
    ("draws_for_plain_rows", "DELETE FROM task WHERE sequence = task_sequence.NEXTVAL"),
    (
        "merges_by_what_stays",
        "MERGE INTO task_owner o USING DUAL ON (o.owner = :owner) WHEN MATCHED THEN UPDATE SET o.a = 1, o.owner = 'a'",
    ),
    (
        "merges_by_what_stays",
        "MERGE INTO task_topic t USING DUAL ON t.topic = :topic WHEN NOT MATCHED THEN INSERT (topic) VALUES (:topic)",
    ),
    ("json_has_columns", "SELECT 1 FROM JSON_TABLE(:given, '$[*]') j"),
    ("json_has_columns", "SELECT j.due FROM JSON_TABLE(:given, '$[*]' COLUMNS (due TIMESTAMP(6) PATH '$')) j"),
    ("json_has_columns", "SELECT j.n FROM JSON_TABLE(:given, '$[*]' COLUMNS (n BIGINT PATH '$')) j"),
    ("texts_have_a_length_in_characters", "CREATE TABLE task (topic VARCHAR2)"),
    ("texts_have_a_length_in_characters", "CREATE TABLE task (topic VARCHAR2 NOT NULL)"),
    ("texts_have_a_length_in_characters", "CREATE TABLE task (topic VARCHAR2(250))"),
    ("texts_have_a_length_in_characters", "CREATE TABLE task (topic VARCHAR2(250 BYTE))"),
    ("texts_have_a_length_in_characters", "CREATE TABLE task (topic VARCHAR2(5000 CHAR))"),
    ("texts_have_a_length_in_characters", "CREATE TABLE task (topic VARCHAR(250 CHAR))"),
    ("texts_have_a_length_in_characters", "SELECT CAST(t.state AS VARCHAR2) FROM task t"),
    ("numbers_fit", "CREATE TABLE task (sequence NUMBER(39))"),
    ("columns_have_types_of_oracle", "CREATE TABLE task (input TEXT)"),
    ("columns_have_types_of_oracle", "CREATE GLOBAL TEMPORARY TABLE task (sequence BIGINT) ON COMMIT DELETE ROWS"),
    ("columns_have_types_of_oracle", "ALTER TABLE task ADD (late TIMESTAMPTZ)"),
    ("defaults_come_first", "CREATE TABLE task (state NUMBER(1) NOT NULL DEFAULT 1)"),
    ("defaults_come_first", "ALTER TABLE task ADD (late NUMBER(1) CHECK (late > 0) DEFAULT 1)"),
    ("indexes_hold_all_rows", "CREATE INDEX task_ready ON task (sequence) WHERE state = 1"),
    ("indexes_hold_all_rows", "CREATE UNIQUE INDEX task_ready ON task (sequence) INCLUDE (state)"),
    ("partitions_begin_with_one", "CREATE TABLE task (topic VARCHAR2(9 CHAR)) PARTITION BY LIST (topic) AUTOMATIC"),
    (
        "partitions_begin_with_one",
        "CREATE TABLE task (state NUMBER(1)) PARTITION BY LIST (state) AUTOMATIC (PARTITION task_no VALUES (DEFAULT))",
    ),
    ("sequences_cache_two", "CREATE SEQUENCE task_sequence CACHE 1 ORDER"),
    ("hints_follow_a_verb", "SELECT t.state /*+ INDEX(t task_ready) */ FROM task t"),
    ("hints_follow_a_verb", "/*+ FIRST_ROWS */ SELECT t.state FROM task t"),
    ("hints_are_known", "SELECT /*+ INDXE(t task_ready) */ t.state FROM task t"),
    ("hints_are_known", "SELECT /*+ INDEX(task task_ready) */ s.slot FROM task_slot s"),
    (
        "hints_are_known",
        "SELECT /*+ LEADING(t s) */ t.state FROM task t",
    ),
]


@pytest.mark.parametrize(("rule", "text"), BROKEN, ids=[f"{rule}: {text[:60]}" for rule, text in BROKEN])
def test_what_is_wrong_is_refused(rule: str, text: str) -> None:
    """The rule that a statement breaks says so."""
    assert any(message.endswith(f"({rule})") for message in check(text)), check(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not(name: str) -> None:
    """What only looks suspicious breaks no rule."""
    assert check(RIGHT[name]) == []


def test_every_rule_is_tried() -> None:
    """Each rule refuses something here."""
    assert {rule for rule, _ in BROKEN} == {rule.__name__ for rule in RULES}

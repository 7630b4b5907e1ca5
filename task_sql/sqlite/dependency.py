"""SQLite: tasks that wait for others."""

from typing import Final

from ..statements import DependencyStatements
from .times import NOW

__all__ = ["ANY", "DEPENDENCY"]

_GIVEN: Final = "IN (SELECT value FROM json_each(:given))"
_PAIR: Final = "json_extract(g.value, '$[0]')", "json_extract(g.value, '$[1]')"
_RELEASED: Final = f"state = 4 AND waits = 1 AND (due IS NULL OR due <= {NOW})"

ANY: Final = "SELECT 1 FROM task_dependency LIMIT 1"
"""Whether any task ever waited for another."""

DEPENDENCY: Final = DependencyStatements(
    lock=f"""
SELECT sequence, identifier, state, waits, on_abort, due IS NOT NULL FROM task
WHERE sequence {_GIVEN} AND topic = :topic
ORDER BY sequence
""",
    seal=None,
    tie=f"""
UPDATE task SET
    listed = listed OR :waits IS NOT NULL, state = CASE WHEN state = 1 AND :waits IS NOT NULL THEN 4 ELSE state END,
    waits = coalesce(:waits, waits), on_abort = coalesce(:on_abort, on_abort)
WHERE sequence {_GIVEN} AND topic = :topic
""",
    link=f"""
INSERT OR IGNORE INTO task_dependency (run_topic, run_sequence, after_topic, after_sequence)
SELECT :topic, {_PAIR[0]}, :after_topic, {_PAIR[1]} FROM json_each(:given) AS g
""",
    awaited=f"SELECT DISTINCT after_sequence FROM task_dependency WHERE after_sequence {_GIVEN} AND signal <> 1",
    waiting=f"""
SELECT run_topic, run_sequence, after_sequence, signal FROM task_dependency INDEXED BY task_dependency_after
WHERE after_sequence {_GIVEN} AND signal <> 1
""",
    downstream="""
SELECT run_topic, run_sequence, after_sequence, signal FROM task_dependency INDEXED BY task_dependency_after
WHERE signal <> 1 AND after_sequence IN (
    WITH RECURSIVE reached (sequence) AS (
        SELECT value FROM json_each(:given)
        UNION
        SELECT d.run_sequence FROM reached AS r CROSS JOIN task_dependency AS d INDEXED BY task_dependency_after
            ON d.after_sequence = r.sequence AND d.signal <> 1
    )
    SELECT sequence FROM reached
)
""",
    signal=f"""
UPDATE task_dependency SET signal = :signal
FROM json_each(:given) AS g
WHERE run_sequence = {_PAIR[0]} AND after_sequence = {_PAIR[1]} AND signal <> :signal
""",
    release=f"""
UPDATE task SET
    waits = NULL, state = CASE WHEN {_RELEASED} THEN 1 ELSE state END,
    failed = (SELECT nullif(count(*), 0) FROM task_dependency WHERE run_sequence = task.sequence AND signal = 2)
WHERE sequence {_GIVEN} AND topic = :topic AND waits IS NOT NULL
AND NOT EXISTS (
    SELECT 1 FROM task_dependency INDEXED BY task_dependency_waiting WHERE run_sequence = task.sequence AND signal = 0)
""",
    cascade=f"""
UPDATE task SET state = 3, descent = max(descent, state), output = :message, completed = {NOW}
WHERE sequence {_GIVEN} AND topic = :topic AND state = 4
""",
    settled="""
SELECT DISTINCT d.after_sequence, t.state
FROM task_dependency AS d INDEXED BY task_dependency_after
LEFT JOIN task AS t ON t.sequence = d.after_sequence AND t.topic = :topic
WHERE d.after_sequence BETWEEN :first AND :last AND d.after_topic = :topic AND d.signal = 0
AND (t.state IS NULL OR t.state IN (3, 5, 6, 8))
""",
    revived="""
SELECT DISTINCT d.after_sequence
FROM task_dependency AS d INDEXED BY task_dependency_after CROSS JOIN task AS t ON t.sequence = d.after_sequence
WHERE d.after_sequence BETWEEN :first AND :last AND d.after_topic = :topic AND d.signal = 2 AND t.state NOT IN (3, 7, 8)
""",
    orphans="""
DELETE FROM task_dependency
WHERE run_sequence BETWEEN :first AND :last AND run_topic = :topic
AND NOT EXISTS (SELECT 1 FROM task WHERE sequence = run_sequence)
""",
    forget=f"DELETE FROM task_dependency WHERE run_sequence {_GIVEN}",
    move_run=f"""
UPDATE task_dependency SET run_sequence = {_PAIR[1]}
FROM json_each(:given) AS g WHERE run_sequence = {_PAIR[0]}
""",
    move_after=f"""
UPDATE task_dependency SET after_sequence = {_PAIR[1]}
FROM json_each(:given) AS g WHERE after_sequence = {_PAIR[0]} AND signal = 0
""",
    predecessors="""
SELECT after_topic, after_sequence FROM task_dependency
WHERE run_sequence = :sequence AND run_topic = :topic ORDER BY after_topic, after_sequence
""",
    dependents="""
SELECT run_topic, run_sequence FROM task_dependency
WHERE after_sequence = :sequence AND after_topic = :topic ORDER BY run_topic, run_sequence
""",
    unlock=None,
    expect=None,
)

"""Oracle: tasks that wait for others."""

from typing import Final

from ..statements import DependencyStatements
from .sql import NOW, given

__all__ = ["DEPENDENCY", "SUSPENDED"]

_GIVEN: Final = f"IN (SELECT j.sequence FROM {given('sequence NUMBER(19)')} j)"
_RELEASED: Final = f"t.state = 4 AND t.waits = 1 AND (t.due IS NULL OR t.due <= {NOW})"

SUSPENDED: Final = f"SELECT t.sequence FROM task t WHERE t.topic = :topic AND t.sequence {_GIVEN} AND t.state = 4"
"""Find tasks that nobody can decide yet, without a lock: topic, sequences → sequence."""

DEPENDENCY: Final = DependencyStatements(
    lock=f"""
SELECT t.sequence, t.identifier, t.state, t.waits, t.on_abort, CASE WHEN t.due IS NULL THEN 0 ELSE 1 END
FROM task t
WHERE t.topic = :topic AND t.sequence {_GIVEN}
ORDER BY t.sequence
FOR UPDATE
""",
    seal=None,
    tie="""
UPDATE task t SET
    t.state = CASE WHEN t.state = 1 AND :waits IS NOT NULL THEN 4 ELSE t.state END,
    t.waits = COALESCE(CAST(:waits AS NUMBER(1)), t.waits),
    t.on_abort = COALESCE(CAST(:on_abort AS NUMBER(1)), t.on_abort)
WHERE t.topic = :topic AND t.sequence = :sequence
""",
    link="""
INSERT INTO task_dependency (run_topic, run_sequence, after_topic, after_sequence)
SELECT :topic, :sequence, :after_topic, :after FROM DUAL
WHERE NOT EXISTS (SELECT 1 FROM task_dependency d WHERE d.run_sequence = :sequence AND d.after_sequence = :after)
""",
    awaited=f"""
SELECT DISTINCT d.after_sequence FROM task_dependency d
WHERE d.after_sequence {_GIVEN} AND d.signal <> 1
""",
    waiting=f"""
SELECT d.run_topic, d.run_sequence, d.after_sequence, d.signal FROM task_dependency d
WHERE d.after_sequence {_GIVEN} AND d.signal <> 1
""",
    downstream=None,
    signal="""
UPDATE task_dependency d SET d.signal = :signal
WHERE d.run_sequence = :sequence AND d.after_sequence = :after AND d.signal <> :signal
""",
    release=f"""
UPDATE task t SET
    t.state = CASE WHEN {_RELEASED} THEN 1 ELSE t.state END, t.waits = NULL,
    t.failed = (
        SELECT NULLIF(COUNT(*), 0) FROM task_dependency d WHERE d.run_sequence = t.sequence AND d.signal = 2)
WHERE t.topic = :topic AND t.sequence = :sequence AND t.waits IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM task_dependency d WHERE CASE WHEN d.signal = 0 THEN d.run_sequence END = t.sequence)
""",
    cascade=f"""
UPDATE task t SET
    t.state = 3, t.descent = GREATEST(t.descent, t.state), t.completed = {NOW}, t.output = TO_CLOB(:message)
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 4
""",
    settled="""
SELECT DISTINCT d.after_sequence, t.state
FROM task_dependency d LEFT JOIN task t ON t.topic = :topic AND t.sequence = d.after_sequence
WHERE d.after_topic = :topic AND d.after_sequence BETWEEN :first AND :last AND d.signal = 0
AND (t.state IS NULL OR t.state IN (3, 5, 6, 8))
""",
    revived="""
SELECT DISTINCT d.after_sequence
FROM task_dependency d JOIN task t ON t.topic = :topic AND t.sequence = d.after_sequence
WHERE d.after_topic = :topic AND d.after_sequence BETWEEN :first AND :last AND d.signal = 2 AND t.state NOT IN (3, 7, 8)
""",
    orphans="""
DELETE FROM task_dependency d
WHERE d.run_topic = :topic AND d.run_sequence BETWEEN :first AND :last
AND NOT EXISTS (SELECT 1 FROM task t WHERE t.topic = :topic AND t.sequence = d.run_sequence)
""",
    forget="DELETE FROM task_dependency d WHERE d.run_sequence = :sequence",
    move_run="UPDATE task_dependency d SET d.run_sequence = :other WHERE d.run_sequence = :sequence",
    move_after="""
UPDATE task_dependency d SET d.after_sequence = :other WHERE d.after_sequence = :sequence AND d.signal = 0
""",
    predecessors="""
SELECT d.after_topic, d.after_sequence FROM task_dependency d
WHERE d.run_sequence = :sequence AND d.run_topic = :topic ORDER BY d.after_topic, d.after_sequence
""",
    dependents="""
SELECT d.run_topic, d.run_sequence FROM task_dependency d
WHERE d.after_sequence = :sequence AND d.after_topic = :topic ORDER BY d.run_topic, d.run_sequence
""",
    unlock=None,
    expect=None,
)

"""PostgreSQL: tasks that wait for others."""

from typing import Final

from ..statements import DependencyStatements
from .sql import NOTIFY, NOW, UNLOCK, sql

__all__ = ["ANNOUNCE", "DEPENDENCY", "LOOK", "MARK", "SHARE"]

_GIVEN: Final = "ANY (CAST(:sequences AS bigint[]))"
_RELEASED: Final = f"t.state = 4 AND t.waits = 1 AND (t.due IS NULL OR t.due <= {NOW})"

_ROWS: Final = f"""
SELECT t.sequence, t.identifier, t.state, t.waits, t.on_abort, t.due IS NOT NULL FROM task AS t
WHERE t.topic = :topic AND t.sequence = {_GIVEN}
ORDER BY t.sequence
"""

DEPENDENCY: Final = DependencyStatements(
    lock=sql(_ROWS + "FOR NO KEY UPDATE\n"),
    seal=sql(_ROWS + "FOR UPDATE\n"),
    tie=sql(f"""
UPDATE task AS t SET
    state = CASE WHEN t.state = 1 AND CAST(:waits AS smallint) IS NOT NULL THEN 4 ELSE t.state END,
    late = CASE WHEN t.state = 1 AND CAST(:waits AS smallint) IS NOT NULL THEN NULL ELSE t.late END,
    waits = coalesce(CAST(:waits AS smallint), t.waits), on_abort = coalesce(CAST(:on_abort AS smallint), t.on_abort),
    awaited = coalesce(t.awaited, nullif(CAST(:awaited AS boolean), false))
WHERE t.topic = :topic AND t.sequence = {_GIVEN}
"""),
    link=sql("""
INSERT INTO task_dependency (run_topic, run_sequence, after_topic, after_sequence)
SELECT :topic, g.run, :after_topic, g.after
FROM unnest(CAST(:sequences AS bigint[]), CAST(:afters AS bigint[])) AS g (run, after)
ON CONFLICT DO NOTHING
"""),
    awaited=sql(f"SELECT DISTINCT after_sequence FROM task_dependency WHERE after_sequence = {_GIVEN} AND signal <> 1"),
    waiting=sql(f"""
SELECT run_topic, run_sequence, after_sequence, signal FROM task_dependency
WHERE after_sequence = {_GIVEN} AND signal <> 1
"""),
    downstream=sql("""
WITH RECURSIVE reached (sequence) AS (
    SELECT unnest(CAST(:sequences AS bigint[]))
    UNION
    SELECT d.run_sequence FROM reached AS r JOIN task_dependency AS d ON d.after_sequence = r.sequence AND d.signal <> 1
)
SELECT d.run_topic, d.run_sequence, d.after_sequence, d.signal
FROM reached AS r JOIN task_dependency AS d ON d.after_sequence = r.sequence AND d.signal <> 1
"""),
    signal=sql("""
UPDATE task_dependency AS d SET signal = :signal
FROM unnest(CAST(:sequences AS bigint[]), CAST(:afters AS bigint[])) AS g (run, after)
WHERE d.run_sequence = g.run AND d.after_sequence = g.after AND d.signal <> :signal
"""),
    release=sql(f"""
UPDATE task AS t SET
    waits = NULL, state = CASE WHEN {_RELEASED} THEN 1 ELSE t.state END,
    late = CASE WHEN {_RELEASED} THEN t.sequence ELSE t.late END,
    failed = (
        SELECT nullif(count(*), 0) FROM task_dependency AS d WHERE d.run_sequence = t.sequence AND d.signal = 2)
WHERE t.topic = :topic AND t.sequence = {_GIVEN} AND t.waits IS NOT NULL
AND (SELECT 1 FROM task_dependency AS d WHERE d.run_sequence = t.sequence AND d.signal = 0 LIMIT 1) IS NULL
RETURNING {NOTIFY}
"""),
    cascade=sql(f"""
UPDATE task AS t SET state = 3, descent = greatest(t.descent, t.state), output = :message, completed = {NOW}
WHERE t.topic = :topic AND t.sequence = {_GIVEN} AND t.state = 4
"""),
    settled=sql("""
SELECT DISTINCT d.after_sequence, t.state
FROM task_dependency AS d LEFT JOIN task AS t ON t.topic = :topic AND t.sequence = d.after_sequence
WHERE d.after_topic = :topic AND d.after_sequence BETWEEN :first AND :last AND d.signal = 0
AND (t.state IS NULL OR t.state IN (3, 5, 6, 8))
"""),
    revived=sql("""
SELECT DISTINCT d.after_sequence
FROM task_dependency AS d JOIN task AS t ON t.topic = :topic AND t.sequence = d.after_sequence
WHERE d.after_topic = :topic AND d.after_sequence BETWEEN :first AND :last AND d.signal = 2 AND t.state NOT IN (3, 7, 8)
"""),
    orphans=sql("""
DELETE FROM task_dependency AS d
WHERE d.run_topic = :topic AND d.run_sequence BETWEEN :first AND :last
AND NOT EXISTS (SELECT FROM task AS t WHERE t.topic = :topic AND t.sequence = d.run_sequence)
"""),
    forget=sql(f"DELETE FROM task_dependency WHERE run_sequence = {_GIVEN}"),
    move_run=sql("""
UPDATE task_dependency AS d SET run_sequence = g.copy
FROM unnest(CAST(:sequences AS bigint[]), CAST(:others AS bigint[])) AS g (sequence, copy)
WHERE d.run_sequence = g.sequence
"""),
    move_after=sql("""
UPDATE task_dependency AS d SET after_sequence = g.copy
FROM unnest(CAST(:sequences AS bigint[]), CAST(:others AS bigint[])) AS g (sequence, copy)
WHERE d.after_sequence = g.sequence AND d.signal = 0
"""),
    predecessors=sql("""
SELECT after_topic, after_sequence FROM task_dependency
WHERE run_sequence = :sequence AND run_topic = :topic ORDER BY after_topic, after_sequence
"""),
    dependents=sql("""
SELECT run_topic, run_sequence FROM task_dependency
WHERE after_sequence = :sequence AND after_topic = :topic ORDER BY run_topic, run_sequence
"""),
    unlock=sql(f"WITH {UNLOCK} SELECT 1"),
    expect=sql(f"""
UPDATE task AS t SET awaited = true
WHERE t.topic = :topic AND t.sequence = (
    SELECT w.sequence FROM task AS w
    WHERE w.topic = :topic AND w.sequence = :sequence AND w.awaited IS NULL FOR UPDATE SKIP LOCKED)
RETURNING CASE WHEN t.state = 1 THEN {NOTIFY} END
"""),
)

# Whoever lets others wait for tasks shares their keys, which nobody minds who claims, decides or releases them. So it
# never holds up a decision on one task while it waits for that on another; a decision waits for it afterwards, with
# `seal`, if the task is marked. Tasks that wait themselves are marked from the start: of the others, which no decision
# on a third has to release, each is locked for its mark. Polls pass over it meanwhile, so that they are asked for again
# if it is READY; likewise by `expect`.
MARK: Final = sql(f"""
WITH marked AS (
    UPDATE task AS t SET awaited = true
    WHERE t.topic = :topic AND t.sequence = ANY (ARRAY(
        SELECT u.sequence FROM task AS u
        WHERE u.topic = :topic AND u.sequence = {_GIVEN} AND u.awaited IS NULL
        AND current_setting('transaction_isolation') IN ('read committed', 'read uncommitted')
        ORDER BY u.sequence
        FOR NO KEY UPDATE))
    RETURNING t.state
)
SELECT current_setting('transaction_isolation'), CASE WHEN EXISTS (SELECT FROM marked WHERE state = 1) THEN {NOTIFY} END
""")
"""Note that others wait for tasks: topic, sequences, notify → isolation."""
SHARE: Final = sql(f"""
SELECT t.sequence FROM task AS t
WHERE t.topic = :topic AND t.sequence = {_GIVEN}
ORDER BY t.sequence
FOR KEY SHARE
""")
"""Wait for who has sealed tasks, and let others wait who will: topic, sequences."""
LOOK: Final = sql(_ROWS)
"""See what tasks are by now, which the locks don't tell: topic, sequences → as lock."""

ANNOUNCE: Final = sql(f"SELECT current_setting('transaction_isolation'), {NOTIFY}")
"""Wake those who listen to the topic: topic, notify → the transaction's isolation."""

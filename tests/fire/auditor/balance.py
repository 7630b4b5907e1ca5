"""What was pushed is there, once, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.auditor.asking import complain

if TYPE_CHECKING:
    import sqlite3


def lost(evidence: sqlite3.Connection) -> list[str]:
    """All that a producer was told is committed is there, and so is every task that was noted."""
    return [
        *complain(
            evidence,
            "committed batches without all of their notes",
            """
SELECT d.batch, d.number, (SELECT count(*) FROM note n WHERE n.batch = d.batch) AS noted
FROM diary d WHERE d.word = 'commit' AND noted <> d.number""",
        ),
        *complain(
            evidence,
            "noted tasks that are gone, although no later push deletes them",
            """
SELECT n.topic, n.sequence, n.batch FROM note n LEFT JOIN task t ON t.sequence = n.sequence
WHERE t.sequence IS NULL AND NOT EXISTS (
    SELECT 1 FROM note d
    WHERE d.topic = n.topic AND d.identifier = n.identifier AND d.sequence > n.sequence
    AND d.mode = 'DELETE' AND d.mode <> 'APPEND')""",
        ),
    ]


def nowhere(evidence: sqlite3.Connection) -> list[str]:
    """Nothing is there that nobody pushed, or that was rolled back."""
    return [
        *complain(
            evidence,
            "tasks that nobody noted",
            "SELECT topic, sequence, identifier FROM task WHERE sequence NOT IN (SELECT sequence FROM note)",
        ),
        *complain(
            evidence,
            "notes of transactions that were rolled back",
            "SELECT batch, topic, sequence FROM note WHERE batch IN (SELECT batch FROM diary WHERE word = 'rollback')",
        ),
    ]


def counts(evidence: sqlite3.Connection) -> list[str]:
    """No number is given twice, tokens and attempts fit, and the repository counts what is there."""
    return [
        *complain(
            evidence,
            "numbers that were given to several tasks",
            """
SELECT sequence, count(*) AS times FROM note WHERE mode <> 'UNIQUE' GROUP BY sequence HAVING count(*) > 1""",
        ),
        *complain(
            evidence,
            "tasks that are not what was pushed under their number",
            """
SELECT t.topic, t.sequence, t.identifier, n.identifier AS pushed FROM task t JOIN note n ON n.sequence = t.sequence
WHERE t.topic <> n.topic OR t.identifier <> n.identifier""",
        ),
        *complain(
            evidence,
            "tasks with more attempts than claims",
            "SELECT topic, sequence, attempt, token FROM task WHERE attempt > token",
        ),
        *complain(
            evidence,
            "counts that differ from the tasks",
            """
SELECT topic, state, sum(here) AS tasks, sum(there) AS counted FROM (
    SELECT topic, state, count(*) AS here, 0 AS there FROM task GROUP BY topic, state
    UNION ALL SELECT topic, state, 0, number FROM counted
) GROUP BY topic, state HAVING sum(here) <> sum(there)""",
        ),
    ]


def undecided(evidence: sqlite3.Connection) -> list[str]:
    """Every task was decided."""
    return complain(
        evidence,
        "tasks that are still open",
        "SELECT topic, sequence, state, owner, attempt FROM task WHERE state IN (0, 1, 2, 4)",
    )

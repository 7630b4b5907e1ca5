"""Order and singularity, from the intervals between claims and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.auditor.asking import complain

if TYPE_CHECKING:
    import sqlite3


def order(evidence: sqlite3.Connection) -> list[str]:
    """A batch comes in order, and of one identifier the earlier task is claimed first where it has to be."""
    return [
        *complain(
            evidence,
            "batches that are out of order",
            """
SELECT topic, owner, before, sequence FROM (
    SELECT
        l.topic, l.owner, l.sequence, t.descending,
        lag(l.sequence) OVER (PARTITION BY l.batch ORDER BY l.place) AS before
    FROM ledger l JOIN topic t ON t.topic = l.topic
) WHERE before IS NOT NULL AND (before > sequence) <> descending""",
        ),
        # Only what was first claimed once and decided then: what came back may be overtaken. And only what is known to
        # have been committed before the next push of its producer began.
        *complain(
            evidence,
            "tasks that were claimed before an earlier one of their identifier",
            """
SELECT topic, identifier, earlier, before, sequence, claimed FROM (
    SELECT
        l.topic, l.identifier, l.sequence, l.claimed,
        lag(l.sequence) OVER siblings AS earlier, lag(l.claimed) OVER siblings AS before
    FROM ledger l JOIN topic t ON t.topic = l.topic AND t.singular AND NOT t.descending
    JOIN note n ON n.sequence = l.sequence
    JOIN diary d ON d.batch = n.batch AND d.word = 'commit'
    WHERE l.token = 1
    WINDOW siblings AS (PARTITION BY l.topic, l.identifier ORDER BY l.sequence)
) WHERE before > claimed""",
        ),
    ]


def singular(evidence: sqlite3.Connection) -> list[str]:
    """No two claims of one identifier overlap."""
    return complain(
        evidence,
        "claims that began before another one of their identifier was decided",
        """
SELECT topic, identifier, sequence, owner, claimed, earlier FROM (
    SELECT
        l.topic, l.identifier, l.sequence, l.owner, l.claimed,
        max(l.decided) OVER (
            PARTITION BY l.topic, l.identifier ORDER BY l.claimed ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS earlier
    FROM ledger l JOIN topic t ON t.topic = l.topic AND t.singular
) WHERE earlier > claimed""",
    )

"""What insertion modes leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.auditor.asking import complain

if TYPE_CHECKING:
    import sqlite3


def replacing(evidence: sqlite3.Connection) -> list[str]:
    """What was replaced is not begun any more, the last one is not replaced, and only what was is redundant."""
    return [
        # A claim that was there before the push ends as it likes; ``polled`` lies before the claim is visible, the
        # moment of the note after the push has seen to older tasks.
        *complain(
            evidence,
            "tasks that were first claimed after a later push had replaced them",
            """
SELECT t.topic, t.identifier, t.sequence, t.polled, r.replaced FROM (
    SELECT sequence, lead(moment) OVER (PARTITION BY topic, identifier ORDER BY sequence) AS replaced
    FROM note WHERE mode IN ('SUPERSEDE', 'REPLACE', 'DELETE')
) AS r JOIN task t ON t.sequence = r.sequence
WHERE t.token = 1 AND t.polled > r.replaced""",
        ),
        *complain(
            evidence,
            "last tasks of their identifier that are gone or redundant",
            """
SELECT n.topic, n.identifier, n.sequence, t.state FROM (
    SELECT topic, identifier, max(sequence) AS sequence FROM note
    WHERE mode IN ('SUPERSEDE', 'REPLACE', 'DELETE') GROUP BY topic, identifier
) AS n LEFT JOIN task t ON t.sequence = n.sequence
WHERE t.sequence IS NULL OR t.state = 8""",
        ),
        *complain(
            evidence,
            "redundant tasks that nothing replaced",
            """
SELECT t.topic, t.identifier, t.sequence FROM task t
WHERE t.state = 8 AND NOT EXISTS (
    SELECT 1 FROM note n
    WHERE n.topic = t.topic AND n.identifier = t.identifier AND n.sequence > t.sequence
    AND n.mode IN ('SUPERSEDE', 'REPLACE') AND n.mode <> 'APPEND')""",
        ),
    ]


def unique(evidence: sqlite3.Connection) -> list[str]:
    """However often an identifier was pushed as unique, it has one task."""
    return complain(
        evidence,
        "identifiers with several unique tasks",
        """
SELECT topic, identifier, count(DISTINCT sequence) AS tasks FROM note WHERE mode = 'UNIQUE'
GROUP BY topic, identifier HAVING count(DISTINCT sequence) > 1""",
    )

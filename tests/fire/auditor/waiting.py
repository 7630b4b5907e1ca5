"""Tasks that wait for others are not begun before those are done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.auditor.asking import complain

if TYPE_CHECKING:
    import sqlite3


def junctions(evidence: sqlite3.Connection) -> list[str]:
    """Each part brings one task, and none of a group begins before all parts are there."""
    return [
        *complain(
            evidence,
            "tasks of a group that began before it was complete",
            """
SELECT j.name, j.claimed, p.decided FROM (
    SELECT stem(identifier) AS name, min(claimed) AS claimed FROM ledger WHERE topic = 'joined' GROUP BY 1
) AS j JOIN (
    SELECT stem(stem(identifier)) AS name, max(decided) AS decided FROM ledger
    WHERE topic = 'parts' AND decision = 3 GROUP BY 1
) AS p ON p.name = j.name
WHERE j.claimed < p.decided""",
        ),
        *complain(
            evidence,
            "parts that brought no task, or several",
            """
SELECT name, sum(parts) AS parts, sum(tasks) AS tasks FROM (
    SELECT stem(identifier) AS name, 1 AS parts, 0 AS tasks FROM ledger WHERE topic = 'parts' AND decision = 3
    UNION ALL SELECT identifier, 0, 1 FROM task WHERE topic = 'joined'
) GROUP BY name HAVING sum(parts) <> sum(tasks)""",
        ),
    ]


def dependencies(evidence: sqlite3.Connection) -> list[str]:
    """A task begins after all that it waits for are done, and if one is not, it is not run."""
    return [
        *complain(
            evidence,
            "tasks that began before what they wait for was done",
            """
SELECT k.run, k.predecessor, r.claimed, p.decided FROM link k
JOIN ledger r ON r.sequence = k.run
LEFT JOIN ledger p ON p.sequence = k.predecessor AND p.decision IN (2, 3)
WHERE p.decided IS NULL OR p.decided > r.claimed""",
        ),
        *complain(
            evidence,
            "tasks that were not run, although all that they wait for are done",
            """
SELECT t.sequence, t.output FROM task t
WHERE t.state = 3 AND t.output LIKE 'not run, because%' AND t.sequence IN (SELECT run FROM link)
AND NOT EXISTS (
    SELECT 1 FROM link k JOIN task p ON p.sequence = k.predecessor WHERE k.run = t.sequence AND p.state = 3)""",
        ),
    ]

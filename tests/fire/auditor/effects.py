"""Decisions and their effects commit together, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.auditor.asking import complain

if TYPE_CHECKING:
    import sqlite3

# Results: 0 failure, 1 suspension, 2 filter, 3 success; states are three above, so that 5 is FILTERED and 6 SUCCEEDED.


def twice(evidence: sqlite3.Connection) -> list[str]:
    """No claim is decided twice, and nothing follows a final decision."""
    return [
        *complain(
            evidence,
            "claims with several decisions",
            """
SELECT topic, sequence, token, count(*) AS decisions, group_concat(owner) AS owners
FROM ledger GROUP BY sequence, token HAVING count(*) > 1""",
        ),
        *complain(
            evidence,
            "decisions after the final one",
            """
SELECT l.topic, l.sequence, f.token AS final, f.owner, l.token, l.owner AS later
FROM ledger f JOIN ledger l ON l.sequence = f.sequence AND l.token > f.token
WHERE f.decision IN (2, 3)""",
        ),
    ]


def undecided_effects(evidence: sqlite3.Connection) -> list[str]:
    """Whatever is in the ledger is what became of the task."""
    return [
        *complain(
            evidence,
            "effects of work that raised",
            "SELECT topic, sequence, token, owner FROM ledger WHERE decision = 9",
        ),
        *complain(
            evidence,
            "effects that are not what was decided",
            """
SELECT l.topic, l.sequence, l.token, l.owner, l.decision, t.state, t.token AS last, t.owner AS holder
FROM ledger l JOIN task t ON t.sequence = l.sequence
WHERE l.decision <= 3 AND (
    l.token > t.token
    OR l.decision >= 2 AND (l.token <> t.token OR l.owner <> t.owner OR t.state NOT IN (l.decision + 3, 8))
    OR l.decision <= 1 AND l.token = t.token AND t.state IN (5, 6))""",
        ),
    ]


def missing_effects(evidence: sqlite3.Connection) -> list[str]:
    """Whatever was decided is in the ledger; a failure that is not has another reason than the work."""
    return [
        *complain(
            evidence,
            "done without an effect",
            """
SELECT t.topic, t.sequence, t.state, t.token, t.owner FROM task t
WHERE t.state IN (5, 6) AND NOT EXISTS (
    SELECT 1 FROM ledger l
    WHERE l.sequence = t.sequence AND l.token = t.token AND l.owner = t.owner AND l.decision = t.state - 3)""",
        ),
        *complain(
            evidence,
            "failed without a reason",
            """
SELECT t.topic, t.sequence, t.token, t.attempt, t.owner, t.output FROM task t
WHERE t.state = 3 AND t.attempt < 12
AND t.output NOT LIKE 'not run, because%' AND t.output NOT LIKE 'expired at attempt%'
AND NOT EXISTS (
    SELECT 1 FROM ledger l WHERE l.sequence = t.sequence AND l.token = t.token AND l.decision = 0)""",
        ),
    ]

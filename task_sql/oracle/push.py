"""
Oracle: pushing.

Partitions are made by whatever is inserted, so that the topic is looked up first. Whoever inserts a key into
``task_mutex`` holds it until the transaction ends, by the wait that a unique index brings; the row is deleted at once.
"""

from typing import Final

from task_api import Insertion

from ..statements import PushStatements
from .sql import DUE, ROW, Chosen, given

__all__ = ["DRAW", "LOCK", "PUSH", "UNLOCK"]


def _retire(states: str, change: str) -> Chosen:
    """Change older tasks, which are locked in the order of their sequences like everywhere else."""
    return Chosen(
        f"""
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state {states}
AND t.identifier IN (SELECT j.identifier FROM {given("identifier VARCHAR2(500 CHAR)")} j)
ORDER BY t.sequence
FOR UPDATE
""",
        f"{change} WHERE t.topic = :topic AND t.sequence = :sequence AND t.state {states}",
    )


_INSERT: Final = f"""
INSERT INTO task (topic, identifier, reference, state, due, input)
VALUES (:topic, :identifier, :reference, :state, {DUE}, :input)
RETURNING sequence INTO :sequence
"""
_REDUNDANT: Final = "UPDATE task t SET t.state = 8, t.descent = GREATEST(t.descent, t.state)"

PUSH: Final = PushStatements(
    one=_INSERT,
    many=_INSERT,
    copy="""
INSERT INTO task (topic, sequence, identifier, reference, origin, on_abort, failed, state, waits, input)
SELECT
    t.topic, :drawn, t.identifier, t.reference, t.sequence, t.on_abort, t.failed,
    CASE WHEN t.waits IS NOT NULL AND :state = 1 THEN 4 ELSE :state END,
    CASE WHEN t.waits IS NOT NULL AND :state = 1 THEN 1 END, t.input
FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence
""",
    retire={
        Insertion.SUPERSEDE: _retire("= 1", _REDUNDANT),
        Insertion.REPLACE: _retire("BETWEEN 1 AND 6", _REDUNDANT),
        Insertion.DELETE: _retire(">= 1", "DELETE FROM task t"),
    },
    present=f"""
SELECT {ROW} FROM task t
WHERE t.topic = :topic AND t.sequence IN (
    SELECT MAX(o.sequence) FROM task o
    WHERE o.topic = :topic AND o.state <= 6
    AND o.identifier IN (SELECT j.identifier FROM {given("identifier VARCHAR2(500 CHAR)")} j)
    GROUP BY o.identifier)
""",
)

DRAW: Final = f"SELECT task_sequence.NEXTVAL FROM {given('sequence NUMBER(19)')} j"
"""Draw a number for each given task: sequence → number."""

LOCK: Final = "INSERT INTO task_mutex (hash) VALUES (:hash)"
"""Wait for other transactions that do the same with a key: hash."""

UNLOCK: Final = "DELETE FROM task_mutex WHERE hash = :hash"
"""Delete the row that a lock was had by; the lock stays: hash."""

"""
Oracle: polling.

The rows of SELECT ... FOR UPDATE SKIP LOCKED are locked as they are fetched, so a poll fetches exactly what it takes. A
SINGULAR condition finds candidates first, without a lock, and takes a lock on a slot for each identifier that it can
have at once; then, seeing everything that was committed before those locks were had, it judges the candidates again and
claims them. Two identifiers may share a slot; one of them then waits for its next poll, never this one.

A row that was changed by others between the query's snapshot and its lock might be chosen wrongly, so that every change
asks again, under the lock, whether it still applies.

A transactional claim changes nothing that others could see but the lock: a temporary table, private to the transaction,
notes which of the locked READY tasks it is.

The hints keep a poll on the index of READY tasks, in its order, whatever the optimizer believes about a queue that is
empty at one time and long at another.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Final

from task_api import Claim, Condition, Order, TaskState

from ..statements import ClaimStatements
from .sql import NOW, READ_CLAIMED, READ_HELD, Chosen, from_now, given

__all__ = ["CANDIDATES", "CHANGES", "CLAIM", "CLAIM_CANDIDATES", "FREE", "READS", "SLOTS", "TRY_SLOTS"]

SLOTS: Final = 65_536
"""How many slots there are to lock identifiers by."""

_DIRECTIONS: Final = {
    Order.FIRST_IN_FIRST_OUT: ("<", "", "INDEX"),
    Order.LAST_IN_FIRST_OUT: (">", " DESC", "INDEX_DESC"),
}
_SINGULAR: Final = tuple(condition for condition in Condition if condition is not Condition.NONE)
_BLOCKING: Final = {
    Condition.SINGULAR_BY_IDENTIFIER: "",
    Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE: "IN (2, 3)",
    Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS: "IN (2, 3, 4)",
}

CHANGES: Final = {
    Claim.COMMITTED: f"""
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1,
    t.polled = {NOW}, t.lease = {from_now("lease")}
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1
""",
    Claim.TRANSACTION: """
INSERT INTO task_claim (topic, identifier, sequence, token, owner)
SELECT t.topic, t.identifier, t.sequence, t.token + 1, :owner FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 1
""",
}
"""What each claim does to a task: topic, sequence, owner, lease."""
READS: Final = {Claim.COMMITTED: READ_HELD, Claim.TRANSACTION: READ_CLAIMED}
"""What is to be known of a task that is claimed."""
FREE: Final = """NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1)"""
"""That this transaction has not claimed the task for itself, as SQL."""


def _ready(order: Order, columns: str, more: str = "") -> str:
    """Find READY tasks in order, without those that this transaction has claimed for itself."""
    _, direction, hint = _DIRECTIONS[order]
    return f"""
SELECT /*+ FIRST_ROWS {hint}(t task_ready) */ {columns} FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 1 THEN t.topic END = :topic
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
AND {FREE}{more}
ORDER BY CASE WHEN t.state = 1 THEN t.sequence END{direction}
"""


def _poll(order: Order, claim: Claim) -> Chosen:
    find = _ready(order, "t.sequence") + "FOR UPDATE SKIP LOCKED\n"
    return Chosen(find, CHANGES[claim], READS[claim])


def _no_sibling(state: str) -> str:
    return f"""
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task s
    WHERE s.topic = :topic AND s.identifier = t.identifier AND s.state {state})"""


def _unblocked(order: Order, condition: Condition) -> str:
    before, _, _ = _DIRECTIONS[order]
    blocking = _BLOCKING[condition]
    clauses = _no_sibling("= 0") + _no_sibling(f"= 1 AND s.sequence {before} t.sequence")
    return clauses + (_no_sibling(blocking) if blocking else "")


_NO_OWN_SIBLING: Final = """
AND NOT EXISTS (
    SELECT /*+ NO_UNNEST */ 1 FROM task_claim c
    JOIN task s ON s.topic = c.topic AND s.sequence = c.sequence AND s.token = c.token - 1
    WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)"""


def _candidates(order: Order, condition: Condition) -> str:
    return _ready(order, "t.sequence, t.identifier", _unblocked(order, condition) + _NO_OWN_SIBLING)


def _claim_candidates(order: Order, condition: Condition, claim: Claim) -> Chosen:
    find = f"""
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence IN (SELECT j.sequence FROM {given("sequence NUMBER(19)")} j)
AND t.state = 1{_unblocked(order, condition)}
FOR UPDATE SKIP LOCKED
"""
    return Chosen(find, CHANGES[claim], READS[claim])


CANDIDATES: Final[Mapping[tuple[Order, Condition], str]] = {
    (order, condition): _candidates(order, condition) for order, condition in product(Order, _SINGULAR)
}
"""Find candidates: topic, owner → sequence, identifier."""

TRY_SLOTS: Final = f"""
SELECT s.slot FROM task_slot s
WHERE s.slot IN (SELECT j.slot FROM {given("slot NUMBER(10)")} j)
FOR UPDATE SKIP LOCKED
"""
"""Lock the slots that nobody has: slot → slot."""

CLAIM_CANDIDATES: Final[Mapping[tuple[Order, Condition, Claim], Chosen]] = {
    (order, condition, claim): _claim_candidates(order, condition, claim)
    for order, condition, claim in product(Order, _SINGULAR, Claim)
}
"""Claim candidates: topic, owner, sequence, lease → as poll."""


@lru_cache
def _eject(states: frozenset[TaskState]) -> Chosen:
    among = f"t.state IN ({', '.join(f'{state:d}' for state in sorted(states))})"
    return Chosen(
        f"""
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.sequence = :sequence AND {among} AND t.waits IS NULL
AND EXISTS (SELECT 1 FROM task_owner o WHERE o.owner = :owner)
FOR UPDATE
""",
        f"""
UPDATE task t SET
    t.state = 0, t.owner = :owner, t.token = t.token + 1,
    t.attempt = CASE t.state WHEN 0 THEN t.attempt ELSE t.attempt + 1 END,
    t.descent = GREATEST(t.descent, t.state), t.polled = {NOW}, t.lease = {from_now("lease")}
WHERE t.topic = :topic AND t.sequence = :sequence AND {among} AND t.waits IS NULL
""",
        READ_HELD,
    )


CLAIM: Final = ClaimStatements(
    poll={(order, Condition.NONE, claim): _poll(order, claim) for order, claim in product(Order, Claim)},
    promote=Chosen(
        f"""
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 4 AND t.due IS NOT NULL THEN t.topic END = :topic
AND CASE WHEN t.state = 4 AND t.due IS NOT NULL THEN t.due END <= {NOW}
AND t.waits IS NULL
FOR UPDATE SKIP LOCKED
""",
        """
UPDATE task t SET t.state = 1
WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 4 AND t.waits IS NULL
""",
    ),
    next_due="""
SELECT MIN(CASE WHEN t.state = 4 AND t.due IS NOT NULL THEN t.due END) FROM task t
WHERE t.topic = :topic AND CASE WHEN t.state = 4 AND t.due IS NOT NULL THEN t.topic END = :topic AND t.waits IS NULL
""",
    eject=_eject,
)

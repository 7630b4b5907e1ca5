"""
SQLite: polling.

A transactional claim changes nothing that others could see: the task stays READY and a temporary table, private to
the connection, notes it. Which transaction noted it is told by ``PRAGMA defer_foreign_keys``, the one setting that
SQLite switches off by itself at the end of a transaction, and by the number of an era that begins whenever it is found
off: going back to a savepoint brings deleted notes back, but not the era that they belong to.
"""

from functools import lru_cache
from itertools import product
from typing import Final

from task_api import Claim, Condition, Order, TaskState

from ..statements import ClaimStatements
from .listed import in_listed, in_open
from .times import NOW, from_now

__all__ = [
    "AS_CLAIMED",
    "CLAIM",
    "CLAIMS",
    "CLAIMS_BEGIN",
    "CLAIMS_BEGUN",
    "CLAIMS_CLEAR",
    "CLAIMS_FORGET",
    "CLAIMS_NOTE",
    "POLL_BESIDE",
    "beside_own",
    "claiming",
]

CLAIMS: Final = """
CREATE TEMP TABLE IF NOT EXISTS task_claim (
    sequence INTEGER PRIMARY KEY, token INTEGER NOT NULL, owner TEXT NOT NULL, era INTEGER NOT NULL,
    topic TEXT NOT NULL, identifier TEXT NOT NULL, UNIQUE (topic, identifier, sequence)
)
"""
CLAIMS_BEGUN: Final = "PRAGMA defer_foreign_keys"
CLAIMS_FORGET: Final = "DELETE FROM temp.task_claim WHERE era <> :era"
CLAIMS_BEGIN: Final = "PRAGMA defer_foreign_keys = ON"
CLAIMS_CLEAR: Final = "DELETE FROM temp.task_claim"
CLAIMS_NOTE: Final = """
REPLACE INTO temp.task_claim (era, topic, owner, sequence, identifier, token)
SELECT :era, :topic, :owner, t.sequence, t.identifier, t.token + 1
FROM json_each(:given) AS g CROSS JOIN task AS t ON t.sequence = g.value
"""

AS_CLAIMED: Final = "t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed"
"""The columns of a Task, as they will be once a transactional claim is decided."""

_DIRECTIONS: Final = {Order.FIRST_IN_FIRST_OUT: ("<", "ASC"), Order.LAST_IN_FIRST_OUT: (">", "DESC")}
_BLOCKING: Final = {
    Condition.SINGULAR_BY_IDENTIFIER: (0,),
    Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE: (0, 2, 3),
    Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS: (0, 2, 3, 4),
}


def _no_sibling(index: str, condition: str) -> str:
    return f"""
    AND NOT EXISTS (
        SELECT 1 FROM task AS s INDEXED BY {index}
        WHERE {condition} AND s.topic = :topic AND s.identifier = t.identifier)"""


def _unblocked(order: Order, condition: Condition) -> str:
    if condition is Condition.NONE:
        return ""
    before, _ = _DIRECTIONS[order]
    blocking = f"s.state IN ({', '.join(map(str, _BLOCKING[condition]))}) AND {in_open('s')}"
    ahead = f"{in_listed('s')} AND s.sequence {before} t.sequence"
    return _no_sibling("task_open", blocking) + _no_sibling("task_listed", ahead)


def beside_own(condition: Condition) -> str:
    """Leave alone what the same transaction has claimed for itself."""
    clause = """
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c WHERE c.sequence = t.sequence AND c.token = t.token + 1)"""
    if condition is not Condition.NONE:
        clause += """
    AND NOT EXISTS (
        SELECT 1 FROM temp.task_claim AS c JOIN task AS s ON s.sequence = c.sequence AND s.token + 1 = c.token
        WHERE s.state = 1 AND c.topic = :topic AND c.identifier = t.identifier)"""
    return clause


def _next(order: Order, condition: Condition, columns: str, beside: str) -> str:
    _, direction = _DIRECTIONS[order]
    return f"""SELECT {columns} FROM task AS t INDEXED BY task_ready
    WHERE t.topic = :topic AND t.state = 1
    AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner){_unblocked(order, condition)}{beside}
    ORDER BY t.sequence {direction} LIMIT :size"""


def _poll(order: Order, condition: Condition, claim: Claim, beside: str = "") -> str:
    if claim is Claim.TRANSACTION:
        return "\n" + _next(order, condition, AS_CLAIMED, beside_own(condition)) + "\n"
    return claiming(_next(order, condition, "t.sequence", beside))


def claiming(chosen: str) -> str:
    """Claim the tasks whose sequences a SELECT gives."""
    return f"""
UPDATE task SET
    state = 0, owner = :owner, attempt = attempt + 1, token = token + 1,
    polled = {NOW}, lease = {from_now("lease")}
WHERE sequence IN (
    {chosen}
)
RETURNING sequence, identifier, input, attempt, token, failed
"""


POLL_BESIDE: Final = {
    (order, condition): _poll(order, condition, Claim.COMMITTED, beside_own(condition))
    for order, condition in product(Order, Condition)
}
"""Committed polls in a transaction that has claimed tasks for itself."""


@lru_cache
def _eject(states: frozenset[TaskState]) -> str:
    ordinals = ", ".join(f"{state:d}" for state in sorted(states))
    return f"""
UPDATE task SET
    state = 0, owner = :owner, token = token + 1, attempt = CASE state WHEN 0 THEN attempt ELSE attempt + 1 END,
    descent = max(descent, state), polled = {NOW}, lease = {from_now("lease")}
WHERE sequence = :sequence AND topic = :topic AND state IN ({ordinals}) AND waits IS NULL
AND EXISTS (SELECT 1 FROM task_owner WHERE owner = :owner)
RETURNING sequence, identifier, input, attempt, token, failed
"""


CLAIM: Final = ClaimStatements(
    poll={
        (order, condition, claim): _poll(order, condition, claim)
        for order, condition, claim in product(Order, Condition, Claim)
    },
    promote=f"""
UPDATE task SET state = 1
WHERE topic = :topic AND state = 4 AND due IS NOT NULL AND due <= {NOW} AND waits IS NULL
""",
    next_due="""
SELECT min(due) FROM task INDEXED BY task_due WHERE topic = :topic AND state = 4 AND due IS NOT NULL AND waits IS NULL
""",
    eject=_eject,
)

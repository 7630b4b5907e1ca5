"""Oracle: what a holder does with its tasks, one statement for one task as for an array of them."""

from typing import Final

from task_api import Claim

from ..statements import HoldStatements
from .sql import DUE, NOW, Whole, from_now, given

__all__ = ["HOLD"]

_HELD: Final = {
    Claim.COMMITTED: "t.state = 0 AND t.owner = :owner AND t.token = :token",
    Claim.TRANSACTION: """t.state = 1 AND t.token = :token - 1 AND EXISTS (
    SELECT 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1 AND c.owner = :owner)""",
}
_AMONG: Final = {
    Claim.COMMITTED: "t.state = 0 AND t.owner = :owner AND (t.sequence, t.token)",
    Claim.TRANSACTION: """t.state = 1 AND EXISTS (
    SELECT 1 FROM task_claim c WHERE c.sequence = t.sequence AND c.token = t.token + 1 AND c.owner = :owner)
AND (t.sequence, t.token + 1)""",
}
_TAKEN: Final = {
    Claim.COMMITTED: "",
    Claim.TRANSACTION: f"t.owner = :owner, t.attempt = t.attempt + 1, t.token = t.token + 1, t.polled = {NOW}, ",
}


def _update(claim: Claim, change: str) -> str:
    return f"""
UPDATE task t SET {change}
WHERE t.topic = :topic AND t.sequence = :sequence AND {_HELD[claim]}
"""


def _held(claim: Claim, lock: str) -> str:
    return f"""
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND {_AMONG[claim]} IN (
    SELECT j.sequence, j.token FROM {given("sequence NUMBER(19)", "token NUMBER(10)")} j)
{lock}"""


_COMPLETE: Final = {
    claim: _update(claim, f"{_TAKEN[claim]}t.state = :state, t.completed = {NOW}, t.due = {DUE}, t.output = :output")
    for claim in Claim
}

HOLD: Final = HoldStatements(
    complete_one=_COMPLETE,
    complete_same={claim: Whole(text) for claim, text in _COMPLETE.items()},
    complete_alike=None,
    complete={claim: Whole(text) for claim, text in _COMPLETE.items()},
    release=Whole(
        _update(Claim.COMMITTED, "t.state = 1, t.attempt = GREATEST(t.attempt - 1, 0), t.lease = NULL"),
    ),
    extend=Whole(_update(Claim.COMMITTED, f"t.lease = {from_now('lease')}")),
    checkpoint={claim: _update(claim, "t.input = :input") for claim in Claim},
    held={claim: _held(claim, "") for claim in Claim},
    lock={claim: _held(claim, "FOR UPDATE\n") for claim in Claim},
)

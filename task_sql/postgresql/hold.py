"""PostgreSQL: what a holder does with its tasks."""

from typing import Final

from task_api import Claim

from ..statements import HoldStatements
from .sql import CLAIMED, NOTIFY, NOW, OWNER, sql

__all__ = ["HOLD"]

_HELD: Final = {
    Claim.COMMITTED: "t.state = 0 AND t.owner = :owner AND t.token = {token}",
    Claim.TRANSACTION: "t.state = 1 AND t.token = {token} - 1",
}
_TAKEN: Final = {
    Claim.COMMITTED: "",
    Claim.TRANSACTION: (f"owner = :owner, attempt = t.attempt + 1, token = t.token + 1, polled = {NOW}, late = NULL, "),
}


def _held(claim: Claim, lock: str = "FOR UPDATE") -> str:
    """Find the given tasks that are held, each by its key."""
    own = ""
    if claim is Claim.TRANSACTION:
        own = f"\n    JOIN unnest({CLAIMED}) AS o (claim) ON o.claim = concat(g.sequence, ':', g.token, ':', {OWNER})"
    return f"""
    SELECT h.sequence
    FROM unnest(CAST(:sequences AS bigint[]), CAST(:tokens AS integer[])) AS g (sequence, token){own}
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = :topic AND t.sequence = g.sequence AND {_HELD[claim].format(token="g.token")}
        OFFSET 0 {lock}
    ) AS h"""


def _all_or_none(claim: Claim, change: str, returning: str = "") -> str:
    """Change the given tasks, or none where one of them is not held."""
    return sql(f"""
WITH held AS MATERIALIZED ({_held(claim)}
)
UPDATE task AS t SET {change}
WHERE t.topic = :topic AND t.sequence = ANY (ARRAY(SELECT sequence FROM held))
AND (SELECT count(*) FROM held) = :number
{returning}""")


def _one(claim: Claim, change: str) -> str:
    own = ""
    if claim is Claim.TRANSACTION:
        own = f"\nAND concat(t.sequence, ':', t.token + 1, ':', {OWNER}) = ANY ({CLAIMED})"
    return sql(f"""
UPDATE task AS t SET {change}
WHERE t.topic = :topic AND t.sequence = :sequence AND {_HELD[claim].format(token=":token")}{own}
""")


def _decided(state: str, output: str, due: str, delay: str) -> str:
    return (
        f"state = CAST({state} AS smallint), output = {output}, completed = {NOW},"
        f" due = coalesce(CAST({due} AS timestamptz), {NOW} + CAST({delay} AS interval))"
    )


_SAME: Final = _decided(":state", ":output", ":due", ":delay")
# Looked up by key, the decisions need no join, so that the tasks are reached by theirs whatever the planner expects.
_EACH: Final = _decided(*(f"(CAST(:decisions AS jsonb) -> CAST(t.sequence AS text) ->> {place})" for place in range(4)))

HOLD: Final = HoldStatements(
    complete_one={claim: _one(claim, _TAKEN[claim] + _SAME) for claim in Claim},
    complete_same={claim: _all_or_none(claim, _TAKEN[claim] + _SAME) for claim in Claim},
    complete={claim: _all_or_none(claim, _TAKEN[claim] + _EACH) for claim in Claim},
    release=_all_or_none(
        Claim.COMMITTED,
        "state = 1, attempt = greatest(t.attempt - 1, 0), lease = NULL, late = t.sequence",
        returning=f"RETURNING {NOTIFY}\n",
    ),
    extend=_all_or_none(Claim.COMMITTED, f"lease = {NOW} + CAST(:lease AS interval)"),
    checkpoint={claim: _one(claim, "input = :input") for claim in Claim},
    held={claim: sql(_held(claim, lock="")) for claim in Claim},
    lock={claim: sql(_held(claim)) for claim in Claim},
)

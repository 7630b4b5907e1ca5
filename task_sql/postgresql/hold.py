"""PostgreSQL: what a holder does with its tasks."""

from typing import Final

from task_api import Claim

from ..statements import HoldStatements
from .sql import NOTIFY, NOW, sql

__all__ = ["HOLD"]

# A transactional claim is a lock on a READY row. Whoever else holds it, the row is skipped; where nobody does,
# it is not claimed. What is left is one's own.
_HELD: Final = {
    Claim.COMMITTED: "t.topic = :topic AND t.state = 0 AND t.owner = :owner AND t.token = {token}",
    Claim.TRANSACTION: (
        "t.topic = :topic AND t.state = 1 AND t.token = {token} - 1 AND t.xmax <> 0 AND task_claimed(t.xmax)"
    ),
}
_LOCK: Final = {Claim.COMMITTED: "FOR UPDATE OF t", Claim.TRANSACTION: "FOR UPDATE OF t SKIP LOCKED"}
_TAKEN: Final = {
    Claim.COMMITTED: "",
    Claim.TRANSACTION: (f"owner = :owner, attempt = t.attempt + 1, token = t.token + 1, polled = {NOW}, late = NULL, "),
}
_GIVEN: Final = "unnest(CAST(:sequences AS bigint[]), CAST(:tokens AS integer[])) AS g (sequence, token)"


def _held(claim: Claim, lock: str) -> str:
    return f"""
    SELECT t.sequence
    FROM {_GIVEN}
    JOIN task AS t ON t.topic = :topic AND t.sequence = g.sequence
    WHERE {_HELD[claim].format(token="g.token")}
    {lock}"""


def _all_or_none(claim: Claim, change: str, given: str = _GIVEN, returning: str = "") -> str:
    """Change the given tasks, or none where one of them is not held."""
    return sql(f"""
WITH held AS MATERIALIZED ({_held(claim, _LOCK[claim])}
)
UPDATE task AS t SET {change}
FROM {given}
WHERE t.topic = :topic AND t.sequence = g.sequence AND (SELECT count(*) FROM held) = :number
{returning}""")


def _one(claim: Claim, change: str) -> str:
    if claim is Claim.COMMITTED:
        return sql(f"""
UPDATE task AS t SET {change}
WHERE t.sequence = :sequence AND {_HELD[claim].format(token=":token")}
""")
    return sql(f"""
WITH held AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.sequence = :sequence AND {_HELD[claim].format(token=":token")}
    {_LOCK[claim]}
)
UPDATE task AS t SET {change}
FROM held AS h
WHERE t.topic = :topic AND t.sequence = h.sequence
""")


_DECISIONS: Final = """unnest(
    CAST(:sequences AS bigint[]), CAST(:states AS smallint[]), CAST(:outputs AS text[]),
    CAST(:dues AS timestamptz[]), CAST(:delays AS interval[])
) AS g (sequence, state, output, due, delay)"""

HOLD: Final = HoldStatements(
    complete_one={
        claim: _one(
            claim,
            f"{_TAKEN[claim]}state = :state, output = :output, completed = {NOW},"
            f" due = coalesce(CAST(:due AS timestamptz), {NOW} + CAST(:delay AS interval))",
        )
        for claim in Claim
    },
    complete={
        claim: _all_or_none(
            claim,
            f"{_TAKEN[claim]}state = g.state, output = g.output, completed = {NOW},"
            f" due = coalesce(g.due, {NOW} + g.delay)",
            _DECISIONS,
        )
        for claim in Claim
    },
    release=_all_or_none(
        Claim.COMMITTED,
        "state = 1, attempt = greatest(t.attempt - 1, 0), lease = NULL, late = t.sequence",
        returning=f"RETURNING {NOTIFY}\n",
    ),
    extend=_all_or_none(Claim.COMMITTED, f"lease = {NOW} + CAST(:lease AS interval)"),
    checkpoint={claim: _one(claim, "input = :input") for claim in Claim},
    held={claim: sql(_held(claim, "")) for claim in Claim},
    lock={claim: sql(_held(claim, _LOCK[claim])) for claim in Claim},
)

"""PostgreSQL: what a holder does with its tasks."""

from typing import Final

from task_api import Claim

from ..statements import HoldStatements
from .sql import CLAIMED, NOTIFY, NOW, OWNER, sql

__all__ = ["HOLD", "ISOLATION"]

# BETWEEN keeps a search by key from being planned as a walk along the READY of a topic that looks empty.
_HELD: Final = {
    Claim.COMMITTED: "t.state = 0 AND t.owner = :owner AND t.token = {token}",
    Claim.TRANSACTION: "t.state BETWEEN 1 AND 1 AND t.token = {token} - 1",
}
_TAKEN: Final = {
    Claim.COMMITTED: "",
    Claim.TRANSACTION: (f"owner = :owner, attempt = t.attempt + 1, token = t.token + 1, polled = {NOW}, late = NULL, "),
}


ISOLATION: Final = "SELECT current_setting('transaction_isolation')"
"""How the transaction sees what others commit."""

# With an old snapshot, a decision might overlook another one that the same task waits for.
_SEES: Final = (
    "\n{indent}AND (t.awaited IS NULL"
    " OR current_setting('transaction_isolation') IN ('read committed', 'read uncommitted'))"
)


def _held(claim: Claim, lock: str = "FOR NO KEY UPDATE", more: str = "") -> str:
    """Find the given tasks that are held, each by its key."""
    own = ""
    if claim is Claim.TRANSACTION:
        own = f"\n    JOIN unnest({CLAIMED}) AS o (claim) ON o.claim = concat(g.sequence, ':', g.token, ':', {OWNER})"
    return f"""
    SELECT h.sequence
    FROM unnest(CAST(:sequences AS bigint[]), CAST(:tokens AS integer[])) AS g (sequence, token){own}
    CROSS JOIN LATERAL (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = :topic AND t.sequence = g.sequence AND {_HELD[claim].format(token="g.token")}{more}
        OFFSET 0 {lock}
    ) AS h"""


def _update(change: str, returning: str = "") -> str:
    """Change the held tasks, or none where one of the given is not among them."""
    return f"""UPDATE task AS t SET {change}
WHERE t.topic = :topic AND t.sequence = ANY (ARRAY(SELECT sequence FROM held))
AND (SELECT count(*) FROM held) = :number{returning}"""


def _all_or_none(change: str, returning: str = "") -> str:
    return sql(f"""
WITH held AS MATERIALIZED ({_held(Claim.COMMITTED)}
)
{_update(change, returning)}
""")


def _decide(claim: Claim, change: str) -> str:
    """Tell how many tasks were decided, and which of them others wait for."""
    return sql(f"""
WITH held AS MATERIALIZED ({_held(claim, more=_SEES.format(indent="        "))}
),
decided AS (
{_update(_TAKEN[claim] + change, " RETURNING t.sequence, t.awaited")}
)
SELECT count(*), array_agg(sequence) FILTER (WHERE awaited) FROM decided
""")


def _one(claim: Claim, change: str, returning: str = "") -> str:
    own = ""
    if claim is Claim.TRANSACTION:
        own = f"\nAND concat(t.sequence, ':', t.token + 1, ':', {OWNER}) = ANY ({CLAIMED})"
    return sql(f"""
UPDATE task AS t SET {change}
WHERE t.topic = :topic AND t.sequence = :sequence AND {_HELD[claim].format(token=":token")}{own}{returning}
""")


def _decide_one(claim: Claim) -> str:
    returning = "\nRETURNING 1, CASE WHEN t.awaited THEN ARRAY[t.sequence] END"
    return _one(claim, _TAKEN[claim] + _SAME, _SEES.format(indent="") + returning)


def _decided(state: str, output: str, due: str, delay: str) -> str:
    return (
        f"state = CAST({state} AS smallint), output = {output}, completed = {NOW},"
        f" due = coalesce(CAST({due} AS timestamptz), {NOW} + CAST({delay} AS interval))"
    )


def _decide_alike(function: str) -> str:
    """Call a function of the schema, which finds each task once, and undoes what it did where one is not held."""
    return sql(f"""
SELECT number, awaited FROM {function}(
    :topic, :owner, CAST(:sequences AS bigint[]), :token, CAST(:state AS smallint), :output,
    coalesce(CAST(:due AS timestamptz), {NOW} + CAST(:delay AS interval)))
""")


_SAME: Final = _decided(":state", ":output", ":due", ":delay")
# Looked up by key, the decisions need no join, so that the tasks are reached by theirs whatever the planner expects.
_EACH: Final = _decided(*(f"(CAST(:decisions AS jsonb) -> CAST(t.sequence AS text) ->> {place})" for place in range(4)))

HOLD: Final = HoldStatements(
    complete_one={claim: _decide_one(claim) for claim in Claim},
    complete_same={claim: _decide(claim, _SAME) for claim in Claim},
    complete_alike={
        Claim.COMMITTED: _decide_alike("task_decide"),
        Claim.TRANSACTION: _decide_alike("task_decide_claimed"),
    },
    complete={claim: _decide(claim, _EACH) for claim in Claim},
    release=_all_or_none(
        "state = 1, attempt = greatest(t.attempt - 1, 0), lease = NULL, late = t.sequence",
        returning=f"\nRETURNING {NOTIFY}",
    ),
    extend=_all_or_none(f"lease = {NOW} + CAST(:lease AS interval)"),
    checkpoint={claim: _one(claim, "input = :input") for claim in Claim},
    held={claim: sql(_held(claim, lock="")) for claim in Claim},
    lock={claim: sql(_held(claim)) for claim in Claim},
)

"""
PostgreSQL: polling.

Without a condition one statement finds, locks and claims. A SINGULAR condition takes two: the first finds candidates
and takes a lock on each identifier that it can have at once; the second, which sees everything that was committed
before those locks were had, judges the candidates again and claims them. The locks last to the end of the
transaction, as long as the claim is not visible to others.

Locks on single identifiers take shared memory of a fixed size, so that a poll takes so many of them at most, each
beside a shared lock on a group of identifiers; for the rest, groups are locked as a whole.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Final

from task_api import Claim, Condition, Order, TaskState

from ..statements import ClaimStatements
from .sql import CLAIMED, NOTIFY, NOW, OWNER, sql

__all__ = [
    "BACKLOG",
    "CANDIDATES",
    "CANDIDATES_AMONG",
    "CANDIDATES_BEYOND",
    "CLAIM",
    "CLAIM_CANDIDATES",
    "FREE",
    "LAST",
    "PROBE",
    "REGISTERED",
    "STILL",
    "claiming",
]

_SINGULAR: Final = tuple(condition for condition in Condition if condition is not Condition.NONE)
_BLOCKING: Final = {
    Condition.SINGULAR_BY_IDENTIFIER: (0,),
    Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE: (0, 2, 3),
    Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS: (0, 2, 3, 4),
}
# Were it a plain parameter, each poll would be planned anew for its values, which costs more than the poll.
_SEQUENCES: Final = "CAST((SELECT CAST(:sequences AS bigint[])) AS bigint[])"
REGISTERED: Final = "EXISTS (SELECT FROM task_owner WHERE owner = :owner)"
"""That the owner is known, as SQL."""

_NONE: Final = f"(SELECT {CLAIMED} IS NULL)"
_OWN: Final = f"(SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest({CLAIMED}) AS e)"
FREE: Final = f"({_NONE} OR concat(t.sequence, ':', t.token + 1) NOT IN {_OWN})"
"""That this transaction has not claimed the task for itself, as SQL."""

# No READY task lies below the floor, except one that came back to READY: those are listed in "late".
_START: Final = """(
        SELECT least(CAST(:floor AS bigint), min(l.late)) FROM task AS l
        WHERE l.topic = :topic AND l.late IS NOT NULL)"""

_CLAIM: Final = f"""
UPDATE task AS t SET
    state = 0, owner = :owner, attempt = t.attempt + 1, token = t.token + 1, late = NULL,
    polled = {NOW}, lease = {NOW} + CAST(:lease AS interval)
WHERE t.topic = :topic AND t.sequence = ANY (ARRAY(SELECT sequence FROM claimed))
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed"""


def claiming(claim: Claim, source: str) -> str:
    """Claim the rows of a SELECT that lacks its columns."""
    if claim is Claim.TRANSACTION:
        return f"""
WITH claimed AS MATERIALIZED (
    SELECT t.sequence, t.identifier, t.input, t.attempt + 1 AS attempt, t.token + 1 AS token, t.failed{source}
),
noted AS MATERIALIZED (
    SELECT set_config('topiq.claimed', concat_ws(
        ',', nullif(current_setting('topiq.claimed', true), ''),
        string_agg(concat(sequence, ':', token, ':', {OWNER}), ',')), true)
    FROM claimed
)
SELECT c.sequence, c.identifier, c.input, c.attempt, c.token, c.failed FROM claimed AS c CROSS JOIN noted
"""
    return f"""
WITH claimed AS MATERIALIZED (
    SELECT t.sequence{source}
){_CLAIM}
"""


def _poll(order: Order, claim: Claim) -> str:
    """Call a function of the schema, which leaves the planner no choice."""
    newest, kept = order is Order.LAST_IN_FIRST_OUT, claim is Claim.TRANSACTION
    return sql(f"""
SELECT sequence, identifier, input, attempt, token, failed
FROM task_poll(:topic, :owner, :size, :lease, :floor, {newest}, {kept}, :look)
""")


def _no_sibling(state: str, more: str = "") -> str:
    """
    Leave out tasks with a sibling in a state.

    A scalar subquery is looked up row by row; the planner would turn EXISTS into a join of everything.
    """
    return f"""
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = :topic AND s.state + 0 = {state} AND s.identifier = t.identifier{more} LIMIT 1
    ) IS NULL"""


def _unblocked(order: Order, condition: Condition) -> str:
    """Leave out tasks that a sibling blocks."""
    before = f" AND 0 + s.sequence < t.sequence AND 0 + s.sequence >= {_START}"
    if order is Order.LAST_IN_FIRST_OUT:
        before = " AND 0 + s.sequence > t.sequence"
    return _no_sibling("1", before) + "".join(_no_sibling(str(state)) for state in _BLOCKING[condition])


def _candidates(condition: Condition, function: str, more: str) -> str:
    """Call a function of the schema that finds candidates and locks their identifiers."""
    given = more.format(blocking=f"ARRAY{list(_BLOCKING[condition])}")
    return sql(f"""
SELECT sequence, current_setting('transaction_isolation')
FROM {function}(:topic, :owner, :size, :floor, {given}, :single, :again) AS sequence
""")


def _claim_candidates(order: Order, condition: Condition, claim: Claim) -> str:
    # As an integer, the state has no index that could be preferred to the key.
    source = f"""
    FROM task AS t
    WHERE t.topic = :topic AND t.sequence = ANY ({_SEQUENCES}) AND CAST(t.state AS integer) = 1\
{_unblocked(order, condition)}
    FOR NO KEY UPDATE OF t SKIP LOCKED"""
    return sql(claiming(claim, source))


CANDIDATES: Final[Mapping[tuple[Order, Condition], str]] = {
    (order, condition): _candidates(
        condition, "task_candidates", f"NULL, {{blocking}}, {order is Order.LAST_IN_FIRST_OUT}"
    )
    for order, condition in product(Order, _SINGULAR)
}
"""Find and lock candidates: topic, owner, floor, single, again, size → sequence, isolation."""

CANDIDATES_AMONG: Final[Mapping[Condition, str]] = {
    condition: _candidates(condition, "task_candidates_among", ":bound, CAST(:identifiers AS text[]), {blocking}")
    for condition in _SINGULAR
}
"""Do so below a bound, among identifiers and late tasks: topic, owner, floor, bound, identifiers, size → as above."""

CANDIDATES_BEYOND: Final[Mapping[Condition, str]] = {
    condition: _candidates(condition, "task_candidates", ":bound, {blocking}, False") for condition in _SINGULAR
}
"""Do so from the bound on: topic, owner, floor, bound, size → as above."""

BACKLOG: Final = sql("""
SELECT t.sequence, t.identifier FROM task AS t
WHERE t.topic = :topic AND t.state = 1
AND t.sequence + 0 >= CAST(:bound AS bigint) AND t.sequence + 0 < CAST(:settled AS bigint)
ORDER BY t.sequence + 0 LIMIT :most
""")
"""Whom the READY tasks between a bound and what is settled belong to: topic, bound, settled, most."""

STILL: Final = sql("""
SELECT i.identifier FROM unnest(CAST(:identifiers AS text[])) AS i (identifier)
WHERE (
    SELECT 1 FROM task AS t
    WHERE t.topic = :topic AND t.state + 0 = 1 AND t.identifier = i.identifier
    AND 0 + t.sequence >= CAST(:floor AS bigint) AND 0 + t.sequence < CAST(:bound AS bigint) LIMIT 1
) IS NOT NULL
""")
"""Which identifiers have READY tasks below a bound: topic, identifiers, floor, bound."""

CLAIM_CANDIDATES: Final[Mapping[tuple[Order, Condition, Claim], str]] = {
    (order, condition, claim): _claim_candidates(order, condition, claim)
    for order, condition, claim in product(Order, _SINGULAR, Claim)
}
"""Claim candidates: topic, owner, sequences, lease → as poll."""

LAST: Final = """
SELECT CASE
    WHEN has_sequence_privilege('task_sequence', 'USAGE') THEN coalesce(pg_sequence_last_value('task_sequence'), 0)
END
"""
"""The number that was drawn last, or 0; NULL for those who may not know."""

PROBE: Final = sql("SELECT own, oldest, lowest, highest FROM task_probe(:topic, :floor)")
"""What a floor is judged by: topic, floor → own id if it is new, oldest running id, lowest and highest READY task."""


@lru_cache
def _eject(states: frozenset[TaskState]) -> str:
    ordinals = ", ".join(f"{state:d}" for state in sorted(states))
    return sql(f"""
UPDATE task AS t SET
    state = 0, owner = :owner, token = t.token + 1, late = NULL,
    attempt = CASE WHEN t.state = 0 THEN t.attempt ELSE t.attempt + 1 END,
    descent = greatest(t.descent, t.state),
    polled = {NOW}, lease = {NOW} + CAST(:lease AS interval)
WHERE t.topic = :topic AND t.sequence = :sequence AND CAST(t.state AS integer) IN ({ordinals})
AND t.waits IS NULL AND {REGISTERED}
RETURNING t.sequence, t.identifier, t.input, t.attempt, t.token, t.failed
""")


CLAIM: Final = ClaimStatements(
    poll={(order, Condition.NONE, claim): _poll(order, claim) for order, claim in product(Order, Claim)},
    promote=sql(f"""
WITH due AS MATERIALIZED (
    SELECT sequence FROM task
    WHERE topic = :topic AND state = 4 AND due <= {NOW} AND waits IS NULL
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE task AS t SET state = 1, late = t.sequence
WHERE t.topic = :topic AND t.sequence = ANY (ARRAY(SELECT sequence FROM due))
RETURNING {NOTIFY}
"""),
    next_due=sql("""
SELECT min(due) FROM task WHERE topic = :topic AND state = 4 AND due IS NOT NULL AND waits IS NULL
"""),
    eject=_eject,
)

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
from .sql import CLAIMED, KEY, NOTIFY, NOW, OWNER, sql

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

_DIRECTIONS: Final = {Order.FIRST_IN_FIRST_OUT: ("<", ""), Order.LAST_IN_FIRST_OUT: (">", " DESC")}
_SINGULAR: Final = tuple(condition for condition in Condition if condition is not Condition.NONE)
_BLOCKING: Final = {
    Condition.SINGULAR_BY_IDENTIFIER: (),
    Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE: (2, 3),
    Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS: (2, 3, 4),
}
_PASSED: Final = 1000
"""How many tasks that somebody has locked a SINGULAR poll passes over."""
# Were they plain parameters, each poll would be planned anew for their values, which costs more than the poll.
_SIZE: Final = "(SELECT CAST(:size AS bigint))"
_BOUND: Final = "(SELECT CAST(:bound AS bigint))"
_IDENTIFIERS: Final = "(SELECT CAST(:identifiers AS text[]))"
_SEQUENCES: Final = "CAST((SELECT CAST(:sequences AS bigint[])) AS bigint[])"
REGISTERED: Final = "EXISTS (SELECT FROM task_owner WHERE owner = :owner)"
"""That the owner is known, as SQL."""

_NONE: Final = f"(SELECT {CLAIMED} IS NULL)"
_OWN: Final = f"(SELECT concat(split_part(e, ':', 1), ':', split_part(e, ':', 2)) FROM unnest({CLAIMED}) AS e)"
FREE: Final = f"({_NONE} OR concat(t.sequence, ':', t.token + 1) NOT IN {_OWN})"
"""That this transaction has not claimed the task for itself, as SQL."""
_OWN_SEQUENCES: Final = f"ARRAY(SELECT CAST(split_part(e, ':', 1) AS bigint) FROM unnest({CLAIMED}) AS e)"

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


def _ready(order: Order) -> str:
    start = f"\n    AND t.sequence + 0 >= {_START}" if order is Order.FIRST_IN_FIRST_OUT else ""
    return f"t.topic = :topic AND t.state = 1 AND {FREE}{start}"


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
    _, direction = _DIRECTIONS[order]
    source = f"""
    FROM task AS t
    WHERE {_ready(order)}
    AND {REGISTERED}
    ORDER BY t.sequence + 0{direction} LIMIT {_SIZE}
    FOR NO KEY UPDATE OF t SKIP LOCKED"""
    return sql(claiming(claim, source))


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


def _unblocked(order: Order, condition: Condition, *, ready: bool = True) -> str:
    """Leave out tasks that a sibling blocks; one that is READY too, only if asked to."""
    before, _ = _DIRECTIONS[order]
    start = f" AND 0 + s.sequence >= {_START}" if order is Order.FIRST_IN_FIRST_OUT else ""
    clauses = _no_sibling("0")
    if ready:
        clauses += _no_sibling("1", f" AND 0 + s.sequence {before} t.sequence{start}")
    return clauses + "".join(_no_sibling(str(state)) for state in _BLOCKING[condition])


_NO_OWN_SIBLING: Final = f"""
    AND (
        SELECT 1 FROM task AS s
        WHERE s.topic = :topic AND s.sequence = ANY ({_OWN_SEQUENCES}) AND s.identifier = t.identifier
        AND CAST(s.state AS integer) = 1 AND concat(s.sequence, ':', s.token + 1) IN {_OWN} LIMIT 1
    ) IS NULL
    AND {REGISTERED}"""


def _locking(source: str, direction: str = "") -> str:
    """
    Take a lock on the identifiers of a SELECT, which gives tasks in order, as far as they can be had.

    If asked again, because somebody had locked some of the tasks, those are passed over: not all that there are, since
    their identifiers stay locked.
    """
    group = "(hashtextextended(CAST(:topic AS text), 4) + (c.key & 255))"
    return sql(f"""
SELECT c.sequence, current_setting('transaction_isolation')
FROM (
    SELECT t.sequence, {KEY.format(identifier="t.identifier", salt="3")} AS key
    FROM {source}
    ORDER BY t.sequence + 0{direction}
    LIMIT (SELECT CASE WHEN CAST(:again AS boolean) THEN CAST(:size AS bigint) + {_PASSED} END)
) AS c
WHERE CASE
    WHEN NOT CASE
        WHEN CAST(:single AS boolean) THEN
            pg_try_advisory_xact_lock_shared{group} AND pg_try_advisory_xact_lock(c.key)
        ELSE pg_try_advisory_xact_lock{group}
    END THEN false
    WHEN CAST(:again AS boolean) THEN (
        SELECT x.sequence FROM task AS x
        WHERE x.topic = :topic AND x.sequence = c.sequence AND CAST(x.state AS integer) = 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) IS NOT NULL
    ELSE true
END
LIMIT {_SIZE}
""")


def _candidates(order: Order, condition: Condition) -> str:
    _, direction = _DIRECTIONS[order]
    source = f"""task AS t
    WHERE {_ready(order)}{_unblocked(order, condition)}{_NO_OWN_SIBLING}"""
    return _locking(source, direction)


def _beyond(condition: Condition) -> str:
    first = Order.FIRST_IN_FIRST_OUT
    source = f"""task AS t
    WHERE t.topic = :topic AND t.state = 1 AND {FREE} AND t.sequence + 0 >= {_BOUND}\
{_unblocked(first, condition)}{_NO_OWN_SIBLING}"""
    return _locking(source)


def _among(condition: Condition) -> str:
    first = Order.FIRST_IN_FIRST_OUT
    source = f"""(
        SELECT t.sequence, t.identifier
        FROM unnest({_IDENTIFIERS}) AS i (identifier)
        CROSS JOIN LATERAL (
            SELECT t.sequence, t.identifier, t.token FROM task AS t
            WHERE t.topic = :topic AND t.state + 0 = 1 AND t.identifier = i.identifier
            AND 0 + t.sequence >= {_START} AND 0 + t.sequence < {_BOUND}
            ORDER BY 0 + t.sequence LIMIT 1
        ) AS t
        WHERE {FREE}{_unblocked(first, condition, ready=False)}{_NO_OWN_SIBLING}
        UNION
        (SELECT t.sequence, t.identifier FROM task AS t
        WHERE t.topic = :topic AND t.late IS NOT NULL AND t.late < {_BOUND}
        AND CAST(t.state AS integer) = 1 AND {FREE}{_unblocked(first, condition)}{_NO_OWN_SIBLING}
        ORDER BY t.late LIMIT 2 * {_SIZE})
    ) AS t"""
    return _locking(source)


def _claim_candidates(order: Order, condition: Condition, claim: Claim) -> str:
    # As an integer, the state has no index that could be preferred to the key.
    source = f"""
    FROM task AS t
    WHERE t.topic = :topic AND t.sequence = ANY ({_SEQUENCES}) AND CAST(t.state AS integer) = 1\
{_unblocked(order, condition)}
    FOR NO KEY UPDATE OF t SKIP LOCKED"""
    return sql(claiming(claim, source))


CANDIDATES: Final[Mapping[tuple[Order, Condition], str]] = {
    (order, condition): _candidates(order, condition) for order, condition in product(Order, _SINGULAR)
}
"""Find and lock candidates: topic, owner, floor, single, again, size → sequence, isolation."""

CANDIDATES_AMONG: Final[Mapping[Condition, str]] = {condition: _among(condition) for condition in _SINGULAR}
"""Do so below a bound, among identifiers and late tasks: topic, owner, floor, bound, identifiers, size → as above."""

CANDIDATES_BEYOND: Final[Mapping[Condition, str]] = {condition: _beyond(condition) for condition in _SINGULAR}
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

PROBE: Final = sql("""
SELECT
    CASE WHEN pg_current_xact_id_if_assigned() IS NULL THEN CAST(CAST(pg_current_xact_id() AS text) AS bigint) END,
    CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint),
    (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = :topic AND t.state = 1 AND t.sequence + 0 >= CAST(:floor AS bigint)
        ORDER BY t.sequence + 0 LIMIT 1
    ),
    (
        SELECT t.sequence FROM task AS t
        WHERE t.topic = :topic AND t.state = 1
        ORDER BY t.sequence + 0 DESC LIMIT 1
    )
""")
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

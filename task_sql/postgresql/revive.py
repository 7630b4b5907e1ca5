"""PostgreSQL: reviving, reassigning and junctions."""

from functools import lru_cache
from typing import Final

from task_api import Junction, TaskState

from ..statements import ReviveStatements
from .sql import NOTIFY, NOW, UNLOCK, sql

__all__ = ["REVIVE"]

_ROW: Final = "t.sequence, t.identifier, t.input, t.attempt, t.token"
_REASSIGNED: Final = f"""descent = greatest(t.descent, t.state), completed = coalesce(t.completed, {NOW}),
    output = CASE
        WHEN CAST(:message AS text) IS NULL THEN t.output ELSE concat_ws(E'\\n', t.output, CAST(:message AS text))
    END"""


def _in_state(columns: str, state: TaskState, lock: str) -> str:
    return sql(f"""
SELECT {columns} FROM task AS t
WHERE t.topic = :topic AND t.state = {state:d} AND t.sequence BETWEEN :first AND :last
ORDER BY t.sequence LIMIT :size
{lock}""")


@lru_cache
def _by_state(state: TaskState) -> str:
    return _in_state(_ROW, state, "FOR UPDATE SKIP LOCKED\n")


@lru_cache
def _chosen(state: TaskState) -> str:
    return _in_state("t.sequence, t.identifier", state, "")


@lru_cache
def _again(state: TaskState) -> str:
    return sql(f"""
SELECT {_ROW} FROM task AS t
WHERE t.topic = :topic AND t.sequence = ANY (CAST(:sequences AS bigint[])) AND t.state = {state:d}
ORDER BY t.sequence
FOR UPDATE SKIP LOCKED
""")


@lru_cache
def _reassign(target: TaskState) -> str:
    return sql(f"""
UPDATE task AS t SET {_REASSIGNED}, due = CASE WHEN t.state = {target:d} THEN t.due END, state = {target:d}
WHERE t.topic = :topic AND t.sequence = ANY (CAST(:sequences AS bigint[]))
""")


@lru_cache
def _reassign_all(state: TaskState, target: TaskState, skip_locked: bool) -> str:  # noqa: FBT001
    return sql(f"""
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = :topic AND t.state = {state:d} AND t.sequence BETWEEN :first AND :last
    ORDER BY t.sequence
    FOR UPDATE{" SKIP LOCKED" if skip_locked else ""}
)
UPDATE task AS t SET {_REASSIGNED}, due = NULL, state = {target:d}
WHERE t.topic = :topic AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))
""")


def _junction(present: str) -> str:
    return sql(f"""
WITH {UNLOCK},
judged AS MATERIALIZED (
    SELECT m.identifier, bool_and({present}) OVER (PARTITION BY m.number) AS complete
    FROM unnest(CAST(:groups AS integer[]), CAST(:identifiers AS text[])) AS m (number, identifier)
),
joined AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = :topic AND t.state + 0 = 4 AND t.identifier = ANY (
        ARRAY(SELECT DISTINCT identifier FROM judged WHERE complete))
    ORDER BY t.sequence
    FOR NO KEY UPDATE
)
UPDATE task AS t SET
    state = CASE WHEN t.waits IS NULL THEN 1 ELSE 4 END, due = NULL,
    late = CASE WHEN t.waits IS NULL THEN t.sequence END, waits = CASE WHEN t.waits IS NOT NULL THEN 1 END
WHERE t.topic = :topic AND t.sequence = ANY (ARRAY(SELECT sequence FROM joined))
RETURNING t.identifier, {NOTIFY}
""")


_OPEN: Final = """(
        SELECT 1 FROM task AS t
        WHERE t.topic = :topic AND t.state + 0 = ANY('{{{states}}}') AND t.identifier = m.identifier LIMIT 1
    ) IS NOT NULL"""
_DONE: Final = """(
        SELECT 1 FROM task AS t
        WHERE t.topic = :topic AND t.state >= 5 AND t.state <= 7 AND t.identifier = m.identifier LIMIT 1
    ) IS NOT NULL"""

REVIVE: Final = ReviveStatements(
    identifiers=sql(
        "SELECT identifier FROM task WHERE topic = :topic AND sequence = ANY (CAST(:sequences AS bigint[]))"
    ),
    chosen=_chosen,
    again=_again,
    named=sql(f"""
SELECT {_ROW} FROM task AS t
WHERE t.topic = :topic AND t.sequence = ANY (CAST(:sequences AS bigint[])) AND t.state BETWEEN 2 AND 6
ORDER BY t.sequence
FOR UPDATE
"""),
    by_state=_by_state,
    reset=sql(f"""
UPDATE task AS t SET
    state = CASE WHEN t.waits IS NULL THEN 1 ELSE 4 END, descent = greatest(t.descent, t.state),
    late = CASE WHEN t.waits IS NULL THEN t.sequence END, waits = CASE WHEN t.waits IS NOT NULL THEN 1 END,
    completed = NULL, output = NULL, lease = NULL, due = NULL
WHERE t.topic = :topic AND t.sequence = ANY (CAST(:sequences AS bigint[]))
RETURNING {NOTIFY}
"""),
    retire=sql("""
UPDATE task AS t SET state = 7, descent = greatest(t.descent, t.state)
WHERE t.topic = :topic AND t.sequence = ANY (CAST(:sequences AS bigint[]))
"""),
    reassign=_reassign,
    reassign_all=_reassign_all,
    junction={
        Junction.SINGULAR: _junction(_OPEN.format(states="4")),
        Junction.ETERNAL: _junction(f"{_OPEN.format(states='0,1,2,3,4')}\n    OR {_DONE}"),
    },
)

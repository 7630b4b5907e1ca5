"""SQLite: pushing. A writer is alone with the database, so there is nobody to wait for."""

from typing import Final

from task_api import Insertion

from ..statements import PushStatements
from .listed import in_listed, in_open
from .times import NOW, from_now

__all__ = ["DRAW", "PASSED", "PUSH", "PUSH_MANY", "PUSH_PLAIN", "PUSH_PLAIN_BEYOND", "PUSH_PLAIN_MANY"]

_NEXT: Final = "1 + max(coalesce((SELECT max(sequence) FROM task), 0), (SELECT last FROM task_number))"
DRAW: Final = f"SELECT {_NEXT}, {NOW}, looked FROM task_topic WHERE topic = :topic"
"""The number of the first task of a batch, the time, and what is known of the topic, if it is: topic."""

_BLOCK: Final = 20
"""So many tasks are inserted at a time: what a statement costs, however many rows it has, is shared by them."""


def _insert(columns: str, number: int, listed: str = "?") -> str:
    places = range(1, 3 + columns.count(","))
    row = f"({', '.join('?' for _ in places)})"
    return f"""
INSERT INTO task (topic, created, listed, sequence, {columns})
SELECT ?, ?, {listed}, {", ".join(f"column{place}" for place in places)}
FROM (VALUES {", ".join([row] * number)})
"""


# Most tasks are READY and have nothing but an identifier and an input. There are statements for them, because sqlite3
# takes a microsecond to bind a None, which it tries to adapt first: half of what a task in a block costs.
PUSH_PLAIN: Final = """
INSERT INTO task (topic, listed, identifier, input)
SELECT topic, looked, ?, ? FROM task_topic WHERE topic = ? AND last IS NULL
"""
"""Insert a READY task without reference or due time, unless numbers are to be passed over: identifier, input, topic."""
PUSH_PLAIN_BEYOND: Final = f"""
INSERT INTO task (sequence, topic, listed, identifier, input)
SELECT {_NEXT}, topic, looked, ?, ? FROM task_topic WHERE topic = ?
"""
"""Insert it in any case, likewise."""
PASSED: Final = "UPDATE task_topic SET last = NULL WHERE last < (SELECT max(sequence) FROM task)"
"""Note that they were."""
PUSH_PLAIN_MANY: Final = {number: _insert("identifier, input", number) for number in (_BLOCK, 1)}
"""Insert so many of them: topic, now, looked, then each task's sequence, identifier and input."""
PUSH_MANY: Final = {
    number: _insert("identifier, input, reference, state", number, "? OR column5 <> 1") for number in (_BLOCK, 1)
}
"""Insert so many without a due time: topic, now, looked, then each task's sequence, identifier, input and so on."""


def _older(finished: str, columns: str = "t.sequence", states: str = "2, 3, 4") -> str:
    """Find the older tasks of identifiers: READY ones, those in some open states, and of the finished what is meant."""

    def found(index: str, condition: str) -> str:
        return f"""
    SELECT {columns} FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY {index}
        ON t.topic = :topic AND t.identifier = g.value AND {condition}"""

    return "\n    UNION ALL".join(
        (
            found("task_listed", in_listed("t")),
            found("task_open", f"t.state IN ({states}) AND {in_open('t')}"),
            found("task_done", f"t.state >= 5 {finished}"),
        )
    )


PUSH: Final = PushStatements(
    one=f"""
INSERT INTO task (sequence, topic, listed, identifier, input, reference, state, due)
SELECT
    {_NEXT}, topic, looked OR :state <> 1, :identifier, :input, :reference, :state, coalesce(:due, {from_now("delay")})
FROM task_topic WHERE topic = :topic
""",
    many="""
INSERT INTO task (topic, created, listed, sequence, identifier, input, reference, state, due)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, strftime('%Y-%m-%d %H:%M:%f', ?, ?)))
""",
    copy="""
INSERT INTO task (topic, sequence, identifier, input, reference, origin, on_abort, failed, state, waits)
SELECT
    t.topic, :first + g.key, t.identifier, t.input, t.reference, t.sequence, t.on_abort, t.failed,
    CASE WHEN t.waits IS NOT NULL AND json_extract(g.value, '$[1]') = 1 THEN 4 ELSE json_extract(g.value, '$[1]') END,
    CASE WHEN t.waits IS NOT NULL AND json_extract(g.value, '$[1]') = 1 THEN 1 END
FROM json_each(:given) AS g CROSS JOIN task AS t ON t.sequence = json_extract(g.value, '$[0]')
RETURNING origin, sequence
""",
    retire={
        Insertion.SUPERSEDE: f"""
UPDATE task INDEXED BY task_listed SET state = 8
WHERE {in_listed()} AND topic = :topic AND identifier IN (SELECT value FROM json_each(:given))
RETURNING sequence
""",
        Insertion.REPLACE: f"""
UPDATE task SET state = 8, descent = max(descent, state)
WHERE sequence IN ({_older("WHERE t.state <= 6")}
)
RETURNING sequence
""",
        Insertion.DELETE: f"""
DELETE FROM task
WHERE sequence IN ({_older("")}
)
RETURNING sequence
""",
    },
    present=f"""
SELECT sequence, identifier, input, attempt, token FROM task
WHERE sequence IN (
    SELECT max(sequence) FROM ({_older("WHERE t.state <= 6", "t.identifier, t.sequence", "0, 2, 3, 4")}
    ) GROUP BY identifier
)
""",
)

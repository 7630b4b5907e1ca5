"""
Oracle: the forms that a statement takes, and the expressions that they share.

A statement is plain SQL with ``:name`` parameters. Where one parameter is a list, it is executed as array DML, once for
each element; a query reads such lists as a table, from one JSON text in ``:given``.
"""

from typing import Final, Self

__all__ = [
    "DUE",
    "NOW",
    "READ",
    "READ_CLAIMED",
    "READ_HELD",
    "ROW",
    "Chosen",
    "Present",
    "Whole",
    "from_now",
    "given",
    "moment",
]


class Chosen(str):  # noqa: SLOT000 - it has attributes
    """
    A query that chooses rows, and what is done with them.

    Oracle can neither return the rows of an UPDATE nor lock the first few of a query in one statement, so that there
    are up to three: the query, which locks rows as they are fetched, at most ``size`` where that is given; a change to
    each row, whose columns are parameters; and another query by ``sequence`` for what is to be known of them then.
    """

    change: str
    read: str

    def __new__(cls, find: str, change: str = "", read: str = "") -> Self:
        """Put the statements together; the query is the text."""
        chosen = super().__new__(cls, find)
        chosen.change = change
        chosen.read = read
        return chosen


class Whole(str):
    """Array DML that touches a row for each element, or nothing."""

    __slots__ = ()


class Present(str):
    """An insertion of what may be there: a duplicate that turns up at the same time is no error."""

    __slots__ = ()


NOW: Final = "SYS_EXTRACT_UTC(SYSTIMESTAMP)"
"""The present time, as SQL."""


def moment(parameter: str) -> str:
    """Return SQL for a moment that is given as text; NULL stays NULL."""
    return f"TO_TIMESTAMP(:{parameter}, 'YYYY-MM-DD HH24:MI:SS.FF6')"


def from_now(parameter: str) -> str:
    """Return SQL for a time from now, given in seconds; NULL stays NULL."""
    return f"{NOW} + NUMTODSINTERVAL(:{parameter}, 'SECOND')"


DUE: Final = f"COALESCE({moment('due')}, {from_now('delay')})"
"""A due time, as SQL: the moment or the time from now."""


def given(*columns: str) -> str:
    """Return SQL for the given rows as a table."""
    described = ", ".join(f"{column} PATH '$[{place}]'" for place, column in enumerate(columns))
    return f"JSON_TABLE(:given, '$[*]' COLUMNS ({described}))"


ROW: Final = "t.sequence, t.identifier, t.input, t.attempt, t.token"
"""The columns of a Task that is not held."""


def _read(columns: str) -> str:
    return f"""
SELECT /*+ LEADING(j) USE_NL(t) INDEX(t task_key) */ {columns}
FROM {given("sequence NUMBER(19)")} j
JOIN task t ON t.topic = :topic AND t.sequence = j.sequence
"""


READ: Final = _read(ROW)
"""Given tasks as they are: topic, sequence."""

READ_HELD: Final = _read(f"{ROW}, t.failed")
"""Given tasks as their holder sees them: topic, sequence."""

READ_CLAIMED: Final = _read("t.sequence, t.identifier, t.input, t.attempt + 1, t.token + 1, t.failed")
"""Given tasks as they will be once a transactional claim is decided: topic, sequence."""

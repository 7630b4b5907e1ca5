"""The columns of the suite: every database, crossed with every way to pass a transaction."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from tests.backends.backend import Kind


@dataclass(frozen=True, slots=True)
class Column:
    """One database reached by one kind of transaction; a test runs once in each that it does not exclude."""

    database: str
    """``"sqlite"``, ``"postgresql"`` or ``"oracle"``: what the marker ``backends`` selects."""

    label: str
    """What the marker ``kinds`` selects: the kind's name, or ``"plain"`` where nothing is partitioned."""

    kind: Kind
    """What is handed to the repository as its transaction."""

    partitioned: bool
    """Whether the schema was installed with one partition for each topic."""

    @property
    def name(self) -> str:
        """The identifier that pytest shows in square brackets."""
        return f"{self.database}-{self.label}"


COLUMNS = (
    Column("sqlite", "connection", Kind.CONNECTION, partitioned=False),
    Column("sqlite", "session", Kind.SESSION, partitioned=False),
    Column("sqlite", "driver", Kind.DRIVER, partitioned=False),
    Column("postgresql", "connection", Kind.CONNECTION, partitioned=True),
    Column("postgresql", "session", Kind.SESSION, partitioned=True),
    Column("postgresql", "driver", Kind.DRIVER, partitioned=True),
    Column("postgresql", "plain", Kind.DRIVER, partitioned=False),
    Column("oracle", "connection", Kind.CONNECTION, partitioned=True),
    Column("oracle", "session", Kind.SESSION, partitioned=True),
    Column("oracle", "driver", Kind.DRIVER, partitioned=True),
    Column("oracle", "plain", Kind.DRIVER, partitioned=False),
)
_ALIKE = {"session": "connection", "plain": "driver"}
"""Kinds of Oracle that prove nothing beside others: partitions are none of the double's, a session has a connection."""
DATABASES = frozenset(column.database for column in COLUMNS)
LABELS = frozenset(column.label for column in COLUMNS)


_TURNS = "connection", "session"
"""Two ways through SQLAlchemy that differ in the outermost line: a test that is not about them has one or the other."""


def select(databases: set[str], labels: set[str], test: str = "") -> list[Column]:
    """The columns of these databases and labels for a test, where an empty set means all of them."""
    if unknown := (databases - DATABASES) | (labels - LABELS):
        message = f"unknown backend or kind: {sorted(unknown)}; there are {sorted(DATABASES | LABELS)}"
        raise ValueError(message)
    chosen = labels or LABELS - {_TURNS[crc32(test.encode()) % len(_TURNS)]}
    return [
        column
        for column in COLUMNS
        if column.database in (databases or DATABASES)
        and column.label in chosen
        and not (column.database == "oracle" and _ALIKE.get(column.label) in chosen)
    ]

"""
A part of a transaction that can be undone alone, whatever the transaction is.

Transactions are known by what they can do, so that no driver has to be imported to ask: SQLAlchemy begins nested
ones, and a driver's own connection is spoken to in SQL.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

__all__ = ["savepoint"]

_numbers = count(1)


@contextmanager
def savepoint(tx: Any) -> Iterator[None]:  # noqa: ANN401 - known by what it can do
    """Keep what happens inside with the transaction; undo that alone, and leave the rest usable, if it raises."""
    if hasattr(tx, "begin_nested"):
        with tx.begin_nested():
            yield
    else:
        with _named(tx):
            yield


@contextmanager
def _named(tx: Any) -> Iterator[None]:  # noqa: ANN401 - known by what it can do
    name = f"topiq_{next(_numbers)}"
    cursor = tx.cursor()
    try:
        if getattr(tx, "in_transaction", None) is False:
            # sqlite3 would take the savepoint for the whole transaction, and commit at its end.
            cursor.execute("BEGIN IMMEDIATE")
        cursor.execute(f"SAVEPOINT {name}")
        try:
            yield
        except BaseException:
            cursor.execute(f"ROLLBACK TO SAVEPOINT {name}")
            raise
        finally:
            # Oracle has no such statement: its savepoints end with the transaction.
            if type(tx).__module__.partition(".")[0] != "oracledb":
                cursor.execute(f"RELEASE SAVEPOINT {name}")
    finally:
        cursor.close()

"""
A part of a transaction that can be undone alone, whatever the transaction is.

Transactions are known by what they can do, so that no driver has to be imported to ask: SQLAlchemy begins nested
ones, and a driver's own connection is spoken to in SQL.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from .connection import refused
from .handler import UnavailableError

__all__ = ["EndedError", "savepoint"]

_numbers = count(1)


class EndedError(UnavailableError):
    """
    There is no transaction to go on with, so that all of it is undone.

    The database has ended it by itself, as SQLite does when the disk is full, or there is no connection for it.
    """


@contextmanager
def savepoint(tx: Any) -> Iterator[None]:  # noqa: ANN401 - known by what it can do
    """Keep what happens inside with the transaction; undo that alone, and leave the rest usable, if it raises."""
    if hasattr(tx, "begin_nested"):
        _connect(tx)
        with tx.begin_nested():
            yield
    elif hasattr(tx, "cursor"):
        with _named(tx):
            yield
    else:
        # A stand-in, as in tests: there is nothing to speak to.
        yield


def _connect(tx: Any) -> None:  # noqa: ANN401 - SQLAlchemy's
    """Give a session its connection before the work asks for it, whose fault it is not if there is none."""
    if callable(getattr(type(tx), "connection", None)):
        try:
            tx.connection()
        except Exception as error:
            if refused(error):
                raise EndedError from error
            # It may have one for each kind of object.


def _release(tx: Any, cursor: Any, name: str) -> None:  # noqa: ANN401 - a driver's
    # Oracle has no such statement: its savepoints end with the transaction.
    if type(tx).__module__.partition(".")[0] != "oracledb":
        cursor.execute(f"RELEASE SAVEPOINT {name}")


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
        except BaseException as error:
            if getattr(tx, "in_transaction", None) is False:
                raise EndedError from error
            cursor.execute(f"ROLLBACK TO SAVEPOINT {name}")
            _release(tx, cursor, name)
            raise
        _release(tx, cursor, name)
    finally:
        cursor.close()

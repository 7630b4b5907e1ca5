"""Transactions of a fault's own, beside the work of others."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import OperationalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine


@contextmanager
def begin(engine: Engine) -> Iterator[Connection]:
    """A transaction; where all writers wait for one file, the wait is repeated."""
    connection = engine.connect()
    with connection:
        while not connection.in_transaction():
            try:
                connection.begin()
            except OperationalError as error:
                if "locked" not in str(error.orig):
                    raise
        with connection.get_transaction():  # type: ignore[union-attr]
            yield connection

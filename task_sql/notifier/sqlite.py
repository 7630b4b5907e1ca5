"""
SQLite: watching the number that changes with every commit of another connection.

Reading it takes a few microseconds and no lock that anybody waits for. Each statement is read to its end, so that no
transaction stays open, which would keep the write-ahead log from being taken over into the file.
"""

import json
import threading
from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Final

from task_api import InvalidTaskError, SchemaError

from ..sqlite.dialect import SqliteDialect
from ..transaction import Transaction
from .connecting import own_connection
from .feed import Feed
from .switchboard import Switchboard

if TYPE_CHECKING:
    from sqlalchemy import Engine

__all__ = ["ACTIVATIONS", "VERSION", "WAITING", "SqliteSource"]

VERSION: Final = "PRAGMA data_version"
"""A number that is another one after a commit of somebody else."""
WAITING: Final = """
SELECT t.value FROM json_each(:topics) AS t
WHERE EXISTS (SELECT 1 FROM task WHERE topic = t.value AND state = 1)
"""
"""Those of the topics that have READY tasks."""
ACTIVATIONS: Final = "SELECT topic, active FROM task_activation"


class SqliteSource:
    """Watches a SQLite file."""

    remote: ClassVar[bool] = False

    def __init__(self, engine: "Engine", interval: timedelta) -> None:
        self._engine = engine
        self._interval = interval.total_seconds()

    def open(self, topics: Collection[str]) -> Feed:
        """Connect, and remember what there is."""
        connection = own_connection(self._engine)
        try:
            if getattr(connection, "autocommit", None) is False:
                connection.autocommit = True  # otherwise every look would begin a transaction
            return _Watch(connection, _transaction(connection), self._interval, topics)
        except BaseException:
            connection.close()
            raise


class _Watch:
    """A connection that looks whether others have committed."""

    def __init__(self, connection: Any, transaction: Transaction, interval: float, topics: Collection[str]) -> None:
        self._connection = connection
        self._transaction = transaction
        self._interval = interval
        self._topics = json.dumps(sorted(topics))
        self._woken = threading.Event()
        self._version = transaction.rows(VERSION)
        self._activations: dict[str, int] = dict(transaction.rows(ACTIVATIONS))

    def attend(self, board: Switchboard) -> None:
        """Look once, after a pause, and pass on what a commit may have brought."""
        if self._woken.wait(self._interval):
            return
        # Before the tables, so that what is committed in between is seen once more rather than missed.
        version = self._transaction.rows(VERSION)
        if version == self._version:
            return
        self._version = version
        before, self._activations = self._activations, dict(self._transaction.rows(ACTIVATIONS))
        for topic, active in self._activations.items():
            if before.get(topic) != active:
                board.activation(topic)
        for (topic,) in self._transaction.rows(WAITING, {"topics": self._topics}):
            board.work(topic)
        board.commit()

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        self._connection.close()


def _transaction(connection: Any) -> Transaction:
    try:
        transaction, _ = SqliteDialect().open(connection)
    except SchemaError as error:
        if connection.execute("PRAGMA database_list").fetchall()[0][2]:
            raise
        message = (
            "a database in memory belongs to the connection that made it, and can't be watched from another;"
            " use a file, or PollingNotifier(interval)"
        )
        raise InvalidTaskError(message) from error
    return transaction

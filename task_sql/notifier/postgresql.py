"""
PostgreSQL: LISTEN on a connection of its own.

The thread sleeps in one ``select`` on the connection and on a socket that ends the wait. Now and then it asks the
server whether the connection still listens, without ever blocking on the answer: a half-open socket, a server that
hangs and a pooler that has lent the session to somebody else all come to light that way.
"""

import os
import selectors
import socket
from collections.abc import Collection
from contextlib import ExitStack, suppress
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Final

from task_api import InvalidTaskError

from ..postgresql.dialect import PostgresDialect
from .connecting import own_connection
from .feed import Feed
from .switchboard import Switchboard

if TYPE_CHECKING:
    from sqlalchemy import Engine

__all__ = ["DIGESTS", "LISTEN", "LISTENING", "PostgresSource"]

LISTEN: Final = "LISTEN task_notification"
DIGESTS: Final = "SELECT t, md5(t) FROM unnest(CAST(%(topics)s AS text[])) AS t"
"""The topics as announcements name them, in the server's own encoding."""
LISTENING: Final = "SELECT count(*) FROM pg_listening_channels() AS c WHERE c = 'task_notification'"
"""Whether the connection is alive, and still the session that listens."""

_DEAF: Final = (
    "the connection no longer listens; a pooler that lends a session for each transaction can't be listened through,"
    " give the notifier an engine with a direct URL"
)
_ANSWER: Final = 5.0
"""How many seconds the server may take to answer, at least."""


class PostgresSource:
    """Listens for what calls on PostgreSQL announce."""

    remote: ClassVar[bool] = True

    def __init__(self, engine: "Engine", probe: timedelta) -> None:
        self._engine = engine
        self._probe = probe.total_seconds()

    def open(self, topics: Collection[str]) -> Feed:
        """Connect and listen."""
        connection = own_connection(self._engine)
        try:
            return _Listener(connection, self._probe, topics)
        except BaseException:
            connection.close()
            raise


class _Listener:
    """A connection that listens."""

    def __init__(self, connection: Any, probe: float, topics: Collection[str]) -> None:
        transaction, layout = PostgresDialect().open(connection)
        if not layout.notify:
            message = (
                "the schema was installed with notify=False, so nothing is announced; use PollingNotifier(interval),"
                " or install it with notify=True"
            )
            raise InvalidTaskError(message)
        connection.rollback()
        connection.autocommit = True
        digests = transaction.rows(DIGESTS, {"topics": sorted(topics)})
        transaction.run(LISTEN)
        self._topics = {digest: topic for topic, digest in digests}
        self._connection = connection
        self._probe = probe
        self._patience = max(probe, _ANSWER)
        self._asked = False
        self._deadline = monotonic() + probe
        _limit_silence(connection.fileno(), 2 * self._patience)
        with ExitStack() as resources:
            self._bell, self._rope = (resources.enter_context(end) for end in socket.socketpair())
            self._selector = resources.enter_context(selectors.DefaultSelector())
            self._selector.register(connection.fileno(), selectors.EVENT_READ)
            self._selector.register(self._bell, selectors.EVENT_READ)
            self._resources = resources.pop_all()

    def attend(self, board: Switchboard) -> None:
        """Wait for announcements until the next probe is due, and pass them on, each once."""
        ready = {key.fileobj for key, _ in self._selector.select(max(0.0, self._deadline - monotonic()))}
        if self._bell in ready:
            return
        heard = self._read() if ready else ()
        if monotonic() >= self._deadline:
            self._ask()
        for payload in heard:
            self._pass_on(board, payload)

    def wake(self) -> None:
        with suppress(OSError):  # it may be closed already
            self._rope.send(b"\0")

    def close(self) -> None:
        self._resources.close()
        self._connection.close()

    def _pass_on(self, board: Switchboard, payload: str) -> None:
        word, _, digest = payload.partition(" ")
        topic = self._topics.get(digest)
        if topic is None:
            return
        if word == "WORK":
            board.work(topic)
        elif word == "ACTIVATION":
            board.activation(topic)

    def _read(self) -> Collection[str]:
        """Take what has arrived, without waiting for more; of equal announcements one."""
        pgconn = self._connection.pgconn
        pgconn.consume_input()
        while self._asked and not pgconn.is_busy():
            if (result := pgconn.get_result()) is None:
                self._asked = False
                self._deadline = monotonic() + self._probe
            elif result.get_value(0, 0) != b"1":
                raise ConnectionError(result.error_message.decode(errors="replace") or _DEAF)
        heard: dict[str, None] = {}
        while notification := pgconn.notifies():
            heard[notification.extra.decode(errors="replace")] = None
        return heard

    def _ask(self) -> None:
        """Ask whether the connection listens; the answer is read when it comes."""
        if self._asked:
            message = f"the database did not answer within {self._patience:g} s"
            raise ConnectionError(message)
        pgconn = self._connection.pgconn
        pgconn.send_query(LISTENING.encode())
        pgconn.flush()
        self._asked = True
        self._deadline = monotonic() + self._patience


def _limit_silence(descriptor: int, seconds: float) -> None:
    """Let the operating system give a connection up whose data nobody acknowledges, unless that was chosen already."""
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as connection:
        internet = connection.family in (socket.AF_INET, socket.AF_INET6)
        if internet and option is not None and not connection.getsockopt(socket.IPPROTO_TCP, option):
            connection.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))

"""
Oracle: continuous query notification.

This has not run on a server: it was written against the driver, python-oracledb 4 or newer in thin mode, and is tested
with a stand-in for the subscription.

The driver gets its messages on a connection and a thread of its own, and does not say when it loses them; a callback
that raises ends them too. So the callback only takes notes, everything is caught up on at each probe, and
the subscription is renewed now and then.
"""

import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import timedelta
from time import monotonic
from typing import Any, ClassVar, Final

from .feed import EndOfFeed, Feed
from .switchboard import Switchboard

__all__ = ["ACTIVATIONS", "READY", "WAITING", "OracleSource"]

READY: Final = "SELECT topic FROM task WHERE state = 1"
"""Registered: its result changes when a task becomes READY, and also when one is claimed."""
ACTIVATIONS: Final = "SELECT topic, active FROM task_activation"
"""Registered: its result changes when an activation is stored."""
WAITING: Final = (
    "SELECT t.topic FROM task_topic t WHERE EXISTS (SELECT 1 FROM task s WHERE s.topic = t.topic AND s.state = 1)"
)
"""The topics that have READY tasks; a message does not say which row has changed."""

_RENEWAL: Final = timedelta(minutes=10)


class OracleSource:
    """
    Subscribes to changes of two queries.

    Args:
        connect: Makes a connection of the driver, which the source owns.
        driver: The driver's module.
        probe: How often the connection is tested and everything caught up on, and how long an answer may take.
        renewal: How long a subscription lasts.

    """

    remote: ClassVar[bool] = True

    def __init__(
        self, connect: Callable[[], Any], driver: Any, probe: timedelta, renewal: timedelta = _RENEWAL
    ) -> None:
        self._connect = connect
        self._driver = driver
        self._probe = probe.total_seconds()
        self._renewal = renewal.total_seconds()

    def open(self, topics: Collection[str]) -> Feed:  # noqa: ARG002 - messages name no topic
        """Connect and subscribe."""
        connection = self._connect()
        try:
            return _Subscription(connection, self._driver, self._probe, self._renewal)
        except BaseException:
            connection.close()
            raise


class _Subscription:
    """A subscription, and what its messages said."""

    def __init__(self, connection: Any, driver: Any, probe: float, renewal: float) -> None:
        self._driver = driver
        self._connection = connection
        self._probe = probe
        self._end = monotonic() + renewal
        self._lock = threading.Lock()
        self._rung = threading.Event()
        self._woken = False
        self._lost = False
        self._changed: set[int] = set()
        connection.call_timeout = int(probe * 1000)
        self._subscription = connection.subscribe(
            namespace=driver.SUBSCR_NAMESPACE_DBCHANGE,
            qos=driver.SUBSCR_QOS_QUERY | driver.SUBSCR_QOS_BEST_EFFORT,
            callback=self._hear,
            client_initiated=True,
            timeout=int(2 * renewal),  # so that the database forgets a program that was killed
        )
        self._ready = self._subscription.registerquery(READY)
        self._activations = self._subscription.registerquery(ACTIVATIONS)

    def attend(self, board: Switchboard) -> None:
        """Wait for messages until the next probe is due, and pass on what they may mean."""
        quiet = not self._rung.wait(self._probe)
        with self._lock:
            self._rung.clear()
            changed, self._changed = self._changed, set()
        if self._woken:
            return
        if self._lost:
            message = "the database has ended the subscription"
            raise ConnectionError(message)
        if monotonic() >= self._end:
            raise EndOfFeed
        if quiet:
            self._connection.ping()
            board.everything()
        if self._activations in changed:
            for topic in board.topics:
                board.activation(topic)
        if self._ready in changed:
            for topic in self._waiting():
                board.work(topic)

    def wake(self) -> None:
        self._woken = True
        self._rung.set()

    def close(self) -> None:
        with suppress(Exception):  # it may be lost already
            self._connection.unsubscribe(self._subscription)
        self._connection.close()

    def _waiting(self) -> list[str]:
        cursor = self._connection.cursor()
        try:
            cursor.execute(WAITING)
            return [topic for (topic,) in cursor.fetchall()]
        finally:
            cursor.close()

    def _hear(self, message: Any) -> None:
        """Take a message down, on the driver's thread."""
        driver = self._driver
        with self._lock:
            if message.type in (driver.EVENT_DEREG, driver.EVENT_SHUTDOWN, driver.EVENT_SHUTDOWN_ANY):
                self._lost = True
            for query in message.queries:
                self._lost = self._lost or query.operation == driver.EVENT_DEREG
                self._changed.add(query.id)
            self._rung.set()

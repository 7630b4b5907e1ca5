"""
Continuous query notification on Oracle, with a stand-in for the driver's connection and subscription.

It proves what the notifier does with messages, not that a server sends them.
"""

from __future__ import annotations

import queue
import threading
import types
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy

from task_sql import Notifier, create_notifier
from task_sql.notifier.oracle import ACTIVATIONS, READY, WAITING, OracleSource
from tests.notifier.support import PATIENCE, Errors, Puppet, started, until

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = timedelta(hours=1)
SHORT = timedelta(milliseconds=20)


class Driver:
    """The constants of python-oracledb that the notifier needs, each with a value of its own."""

    SUBSCR_NAMESPACE_DBCHANGE = 2
    SUBSCR_QOS_QUERY = 8
    SUBSCR_QOS_BEST_EFFORT = 16
    EVENT_NONE = 0
    EVENT_SHUTDOWN = 2
    EVENT_SHUTDOWN_ANY = 3
    EVENT_DEREG = 5
    EVENT_QUERYCHANGE = 7


class Query:
    """What a message says of one registered query."""

    def __init__(self, number: int, operation: int = Driver.EVENT_QUERYCHANGE) -> None:
        self.id = number
        self.operation = operation


class Message:
    """What the driver calls back with."""

    def __init__(self, kind: int, *queries: Query) -> None:
        self.type = kind
        self.queries = list(queries)


class Subscription:
    """Knows which queries were registered."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.queries: list[str] = []

    def registerquery(self, statement: str) -> int:
        """Give each query a number."""
        self.queries.append(statement)
        return 100 + len(self.queries)

    def tell(self, *statements: str) -> None:
        """Say that the result of these queries has changed."""
        queries = [Query(101 + self.queries.index(statement)) for statement in statements]
        self.options["callback"](Message(Driver.EVENT_QUERYCHANGE, *queries))


class Cursor:
    """Answers with the topics that have READY tasks."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def execute(self, statement: str) -> None:
        """Know one statement."""
        assert statement == WAITING
        self._connection.looks += 1

    def fetchall(self) -> list[tuple[str]]:
        """The topics."""
        return [(topic,) for topic in self._connection.waiting]

    def close(self) -> None:
        """Nothing to free."""


class Connection:
    """A connection that subscribes, answers and can be lost."""

    def __init__(self) -> None:
        self.waiting = ["a"]
        self.looks = 0
        self.pings = threading.Semaphore(0)
        self.lost: Exception | None = None
        self.refusal: Exception | None = None
        self.closed = threading.Event()
        self.unsubscribed = False
        self.call_timeout = 0
        self.subscription: Subscription | None = None

    def subscribe(self, **options: Any) -> Subscription:
        """Take a subscription."""
        if self.refusal is not None:
            raise self.refusal
        self.subscription = Subscription(options)
        return self.subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription, which a lost connection can't."""
        assert subscription is self.subscription
        if self.lost is not None:
            raise self.lost
        self.unsubscribed = True

    def cursor(self) -> Cursor:
        """A cursor."""
        return Cursor(self)

    def ping(self) -> None:
        """Answer, or not."""
        if self.lost is not None:
            raise self.lost
        self.pings.release()

    def close(self) -> None:
        """Be closed."""
        self.closed.set()


class Line:
    """Makes connections, the given ones first."""

    def __init__(self, *given: Connection) -> None:
        self._given = list(given)
        self.made: queue.SimpleQueue[Connection] = queue.SimpleQueue()

    def connect(self) -> Connection:
        """Connect."""
        made = self._given.pop(0) if self._given else Connection()
        self.made.put(made)
        return made

    def next(self) -> tuple[Connection, Subscription]:
        """The next connection that was made, once it has subscribed."""
        connection = self.made.get(timeout=PATIENCE)
        until(lambda: connection.subscription is not None and len(connection.subscription.queries) == 2)
        assert connection.subscription is not None
        return connection, connection.subscription


@pytest.fixture
def line() -> Line:
    """Where connections come from."""
    return Line()


def source(line: Line, probe: timedelta = LONG, renewal: timedelta = LONG) -> OracleSource:
    """A source on the stand-in."""
    return OracleSource(line.connect, Driver, probe, renewal)


def test_ready_tasks_are_watched(line: Line) -> None:
    """Not those that somebody works on (PN-B3)."""
    with started(Notifier(source(line)), Puppet()):
        connection, subscription = line.next()
        assert subscription.queries == [READY, ACTIVATIONS]
    assert READY == "SELECT topic FROM task WHERE state = 1"
    options = {name: value for name, value in subscription.options.items() if name != "callback"}
    assert options == {"namespace": 2, "qos": 24, "client_initiated": True, "timeout": 7200}
    assert connection.call_timeout == 3_600_000
    assert connection.unsubscribed
    assert connection.closed.is_set()


def test_work_resumes_who_has_some(line: Line) -> None:
    """A message names no topic, so it is looked up which have READY tasks (PN-09)."""
    a, b = Puppet("a"), Puppet("b")
    with started(Notifier(source(line)), a, b):
        _, subscription = line.next()
        subscription.tell(READY)
        a.wait("resume", 2)
    assert b.count("resume") == 1


def test_messages_that_wait_are_one(line: Line) -> None:
    """However many came meanwhile, it is looked up once (PN-09)."""
    gate, begun = threading.Event(), threading.Event()
    puppet = Puppet("a")

    def wait() -> None:
        begun.set()
        assert gate.wait(PATIENCE)

    with started(Notifier(source(line)), puppet):
        connection, subscription = line.next()
        puppet.before["resume"] = wait
        subscription.tell(READY)
        assert begun.wait(PATIENCE)
        for _ in range(50):
            subscription.tell(READY)
        gate.set()
        puppet.wait("resume", 3)
        until(lambda: connection.looks == 2)
    assert (connection.looks, puppet.count("resume")) == (2, 3)


def test_a_stored_wish_is_read(line: Line) -> None:
    """And followed; nobody is resumed for it (PN-10)."""
    puppet = Puppet("a")
    with started(Notifier(source(line)), puppet):
        _, subscription = line.next()
        puppet.wait("activation")
        puppet.stored = True
        subscription.tell(ACTIVATIONS)
        puppet.wait("initialize")
    assert puppet.count("resume") == 1


def test_other_messages_are_ignored(line: Line) -> None:
    """An unknown query, or no query at all (PN-08, PN-B6)."""
    errors, puppet = Errors(), Puppet("a")
    with started(Notifier(source(line), errors), puppet):
        connection, subscription = line.next()
        subscription.options["callback"](Message(Driver.EVENT_NONE))
        subscription.options["callback"](Message(Driver.EVENT_QUERYCHANGE, Query(999)))
        assert connection.looks == 0
        subscription.tell(READY)
        puppet.wait("resume", 2)
    assert (puppet.count("resume"), errors.seen) == (2, [])


@pytest.mark.parametrize(
    "message",
    [
        lambda: Message(Driver.EVENT_DEREG),
        lambda: Message(Driver.EVENT_SHUTDOWN),
        lambda: Message(Driver.EVENT_SHUTDOWN_ANY),
        lambda: Message(Driver.EVENT_QUERYCHANGE, Query(101, Driver.EVENT_DEREG)),
    ],
    ids=["deregistered", "shut down", "shut down here", "query deregistered"],
)
def test_a_subscription_that_was_ended_is_made_again(line: Line, message: Callable[[], Message]) -> None:
    """It is reported, and everybody is told (PN-11, PN-B5)."""
    errors, puppet = Errors(), Puppet("a")
    with started(Notifier(source(line), errors), puppet):
        old, subscription = line.next()
        subscription.options["callback"](message())
        new, _ = line.next()
        puppet.wait("resume", 2)
        assert old.closed.is_set()
        assert not new.closed.is_set()
    assert ["ended the subscription" in str(error) for error in errors.seen] == [True]


def test_a_lost_connection_is_found_by_a_ping(line: Line) -> None:
    """And made again, though ending the subscription fails (PN-11, PN-B5)."""
    errors, puppet = Errors(), Puppet("a")
    with started(Notifier(source(line, probe=SHORT), errors), puppet):
        old, _ = line.next()
        assert old.pings.acquire(timeout=PATIENCE)
        old.lost = ConnectionError("gone")
        assert str(errors.wait()[0]) == "gone"
        new, subscription = line.next()
        assert old.closed.is_set()
        assert new.pings.acquire(timeout=PATIENCE)
        subscription.tell(READY)
        until(lambda: new.looks)
    assert len(errors.seen) == 1


def test_everything_is_caught_up_on_at_each_probe(line: Line) -> None:
    """The driver does not say when it no longer gets messages (PN-B5)."""
    puppet = Puppet("a")
    with started(Notifier(source(line, probe=SHORT)), puppet):
        puppet.wait("resume", 4)
        puppet.wait("activation", 4)


def test_a_subscription_is_renewed_without_a_report(line: Line) -> None:
    """So that one which went silent does not stay so (PN-11)."""
    errors = Errors()
    with started(Notifier(source(line, probe=SHORT, renewal=SHORT), errors), Puppet("a")):
        old, _ = line.next()
        new, _ = line.next()
        assert old.closed.is_set()
        assert old.unsubscribed
    assert new.closed.is_set()
    assert errors.seen == []


def test_a_refused_subscription_leaves_no_connection() -> None:
    """The right to subscribe may be missing; it is tried again, as it may be granted (PN-11)."""
    refusing = Connection()
    refusing.refusal = PermissionError("ORA-29972")
    line = Line(refusing)
    errors, puppet = Errors(), Puppet("a")
    with started(Notifier(source(line), errors), puppet):
        assert refusing.closed.wait(PATIENCE)
        puppet.wait("resume")
    assert [str(error) for error in errors.seen] == ["ORA-29972"]


def test_an_engine_on_oracle_gives_such_a_notifier(line: Line) -> None:
    """With the driver and the connections that the engine has (PN-11)."""

    class Module(types.ModuleType):
        """The driver's module, as far as SQLAlchemy looks at it."""

        paramstyle = "named"
        version = "4.0.0"

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever it is
            return getattr(Driver, name, type(name, (), {})) if not name.startswith("__") else None

    engine = sqlalchemy.create_engine(
        "oracle+oracledb://", module=Module("oracledb"), creator=line.connect, _initialize=False
    )
    puppet = Puppet("a")
    with started(create_notifier(engine), puppet):
        _, subscription = line.next()
        subscription.tell(READY)
        puppet.wait("resume", 2)

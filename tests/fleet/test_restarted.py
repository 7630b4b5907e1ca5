"""A database server that is restarted while tasks are pushed and worked on."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

import task_sql
from task_api import Claim
from tests.backends import Backend, Kind
from tests.fleet import audit, effects
from tests.fleet.assignment import Assignment
from tests.fleet.crew import PATIENCE, eventually
from tests.fleet.server import RestartableServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fleet.crew import Crew

pytestmark = pytest.mark.timeout(300)
ENOUGH = 500
"""How many tasks are to be worked on between two restarts."""


@pytest.fixture(scope="module")
def server() -> Iterator[RestartableServer]:
    """A server that serves these tests alone."""
    server = RestartableServer()
    yield server
    server.stop()


@pytest.fixture(params=Claim)
def database(server: RestartableServer, request: pytest.FixtureRequest) -> Iterator[Backend]:
    """A database of that server for each claim."""
    name = f"restarted_{request.param.name.lower()}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    url = task_sql.create_engine(server.url).url.set(database=name).render_as_string(hide_password=False)
    backend = Backend(name="postgresql", partitioned=True, kind=Kind.DRIVER, url=url)
    with backend.engine.begin() as tx:
        task_sql.schema.install(tx)
    with backend.begin() as tx:
        backend.repository("me").initialize(tx, "topic")
    backend.sql(effects.CREATE)
    yield backend
    backend.engine.dispose()
    backend.finish()


class Producer:
    """Pushes as much as is allowed until it is stopped, and tries again whatever may not have been committed."""

    def __init__(self, url: str, name: str) -> None:
        self._engine = task_sql.create_engine(url)
        self._repository = task_sql.create_repository(self._engine, owner=name)
        self._name = name
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main, name=name)
        self.pushed: list[str] = []
        self.allowed: float = ENOUGH
        self.failures = 0

    @contextmanager
    def pushing(self) -> Iterator[None]:
        """Push beside what is done inside."""
        self._thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            self._thread.join(PATIENCE)
            self._engine.dispose()

    def _main(self) -> None:
        number = 0
        while not self._stopping.wait(0.1):
            if len(self.pushed) >= self.allowed:
                continue
            identifiers = [f"{self._name}-{number}-{index}" for index in range(20)]
            try:
                with self._engine.begin() as tx:
                    self._repository.push_many(tx, "topic", identifiers)
            except DBAPIError:
                self.failures += 1
            else:
                self.pushed += identifiers
                number += 1


def test_a_restarted_server_loses_nothing(server: RestartableServer, database: Backend, crew: Crew) -> None:
    """Restarted twice under load, once without a shutdown: all that was pushed is decided once (P1, P2, TM-21)."""
    claim = Claim[database.engine.url.database.partition("_")[2].upper()]  # type: ignore[union-attr]
    hands = [crew.hire(Assignment(f"hand-{index}", database.url, claim=claim, notified=True)) for index in range(3)]
    producers = [Producer(database.url, f"producer-{index}") for index in range(2)]

    def done() -> int:
        return int(database.sql("SELECT count(*) FROM effect")[0][0])

    def allow(number: float) -> None:
        for producer in producers:
            producer.allowed = number

    def reached(goal: int) -> bool:
        number = done()
        # So that a slow machine is not left with more than it can do.
        allow(number / len(producers) + ENOUGH)
        return number >= goal

    def go_on() -> None:
        goal = done() + ENOUGH
        eventually(lambda: reached(goal), lambda: "\n".join(hand.diary() for hand in hands))

    with producers[0].pushing(), producers[1].pushing():
        go_on()
        for mode in ("immediate", "fast"):
            allow(inf)
            server.restart(mode)
            database.engine.dispose()
            go_on()
    assert all(producer.failures for producer in producers)
    audit.drained(database, *hands)
    assert [hand.end() for hand in hands] == [0] * 3
    [(number,)] = database.sql("SELECT count(*) FROM task")
    audit.exactly_once(database, number)
    acknowledged = {identifier for producer in producers for identifier in producer.pushed}
    found = {identifier for (identifier,) in database.sql("SELECT identifier FROM task")}
    assert acknowledged <= found

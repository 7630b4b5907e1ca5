"""Who races in these tests, and a second topic to race on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.contention.processes import Crew, Process, Processes
from tests.contention.threads import Actor, Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from task_api import TaskRepository
    from tests.backends import Backend

OTHER = "other"
_NO_STATEMENT_HANGS = """
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 20000', current_database()); END $$
"""


@pytest.fixture(autouse=True)
def _no_statement_hangs(backend: Backend) -> None:
    """A statement that waits for ever fails, so that a broken build is found out in seconds."""
    if backend.name != "sqlite":
        with psycopg.connect(backend.dsn) as connection:
            connection.execute(_NO_STATEMENT_HANGS)


@pytest.fixture(scope="session")
def crew() -> Iterator[Crew]:
    """Four processes that serve the whole session."""
    crew = Crew()
    yield crew
    crew.dismiss()


@pytest.fixture
def crowd(backend: Backend, crew: Crew) -> Threads | Processes:
    """Those who race on this backend: processes on SQLite, threads elsewhere."""
    return Processes(crew, backend.url) if backend.name == "sqlite" else Threads(backend)


@pytest.fixture
def hire() -> Iterator[Callable[[], Process]]:
    """Start a process of the test's own, which it may kill."""
    hired: list[Process] = []

    def start() -> Process:
        hired.append(Process())
        return hired[-1]

    yield start
    for process in hired:
        process.kill()


@pytest.fixture
def actor(backend: Backend) -> Iterator[Callable[[str], Actor]]:
    """Start an actor with this owner's name."""
    actors: list[Actor] = []

    def start(owner: str) -> Actor:
        actors.append(Actor(backend, owner))
        return actors[-1]

    yield start
    for each in actors:
        each.close()


@pytest.fixture
def other(backend: Backend, repository: TaskRepository[Any]) -> str:
    """A second topic."""
    with backend.begin() as tx:
        repository.initialize(tx, OTHER)
    return OTHER

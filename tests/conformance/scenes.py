"""Scenes that several conformance tests start from, and a short way to make one call."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from datetime import UTC, datetime
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from task_api import Task, TaskRepository, TaskState
from tests.backends import Backend
from tests.backends.steps import drive, push

P = ParamSpec("P")
R = TypeVar("R")

Repository: TypeAlias = TaskRepository[Any]
"""A repository that takes whatever kind of transaction the column gives."""

TIMEOUT = 30
"""Seconds after which a test that waits for another thread gives up."""

_WAITING = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def run(backend: Backend, call: Callable[Concatenate[Any, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Make one call in a transaction of its own, committed unless it raises."""
    with backend.begin() as tx:
        return call(tx, *args, **kwargs)


def one_of_each(
    backend: Backend, repository: Repository, topic: str, states: Iterable[TaskState] = TaskState
) -> dict[TaskState, Task]:
    """One task in each state, named after it; those behind RECREATED and REDUNDANT stay READY."""
    tasks = {}
    for state in states:
        (tasks[state],) = push(backend, repository, topic, state.name)
        drive(backend, repository, topic, tasks[state], state)
    return tasks


def set_time(backend: Backend, task: Task, moment: datetime, column: str = "created") -> None:
    """Pretend that a task was pushed (or completed) at that moment."""
    stored: object = moment
    if backend.name == "sqlite":
        stored = moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "milliseconds")
    statement = f"UPDATE task SET {column} = :moment WHERE sequence = :sequence"  # noqa: S608 - ours
    backend.sql(statement, moment=stored, sequence=task.sequence)


def now(backend: Backend) -> datetime:
    """Return the database's time; for SQLite that is this machine's."""
    if backend.name == "sqlite":
        return datetime.now(UTC)
    clock = {"postgresql": "SELECT clock_timestamp()", "oracle": "SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) FROM DUAL"}
    moment: datetime = backend.sql(clock[backend.name])[0][0]
    return moment


def await_lock(backend: Backend, future: "Future[Any]") -> None:
    """Return once the call behind the future waits for a lock of PostgreSQL, or is through."""
    deadline = time.monotonic() + TIMEOUT
    while not wait([future], timeout=0.01).done:
        if backend.sql(_WAITING):
            return
        assert time.monotonic() < deadline, "neither finished nor waiting for a lock"

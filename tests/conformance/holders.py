"""Tasks that are held, as the tests of holding make, use and compare them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from task_api import Task, TaskDecision, TaskInfo
from tests.backends import Backend, Transaction
from tests.backends.steps import poll, push
from tests.conformance.scenes import Repository

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
Call = Callable[[Transaction, Repository, str, Task], object]

CALLS: dict[str, Call] = {
    "complete": lambda tx, repository, topic, task: repository.complete(tx, topic, task),
    "complete many": lambda tx, repository, topic, task: repository.complete_many(
        tx, topic, {task: TaskDecision.FAILURE}
    ),
    "release": lambda tx, repository, topic, task: repository.release(tx, topic, [task]),
    "extend": lambda tx, repository, topic, task: repository.extend(tx, topic, [task], HOUR),
    "checkpoint": lambda tx, repository, topic, task: repository.checkpoint(tx, topic, task, "new"),
}
"""What only the holder of a task may do."""


def held(backend: Backend, repository: Repository, topic: str, *identifiers: str, **options: Any) -> list[Task]:
    """Push tasks and poll them."""
    push(backend, repository, topic, *identifiers)
    return poll(backend, repository, topic, len(identifiers), **options)


def end_leases(backend: Backend) -> None:
    """Move the end of all leases into the past, so that no test waits for time to pass."""
    ended = {
        "sqlite": "strftime('%Y-%m-%d %H:%M:%f', lease, '-1 day')",
        "postgresql": "lease - interval '1 day'",
        "oracle": "lease - NUMTODSINTERVAL(86400, 'SECOND')",
    }[backend.name]
    backend.sql(f"UPDATE task SET lease = {ended}")  # noqa: S608 - ours


def without(stored: TaskInfo, *names: str) -> dict[str, object]:
    """Return all that is stored but these fields."""
    fields = (
        *(
            "sequence",
            "identifier",
            "input",
            "attempt",
            "token",
            "topic",
            "state",
            "descent",
            "owner",
            "reference",
        ),
        *("created", "polled", "completed", "due", "lease", "origin", "output"),
    )
    return {name: getattr(stored, name) for name in fields if name not in names}

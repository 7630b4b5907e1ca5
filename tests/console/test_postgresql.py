"""What commands see on PostgreSQL alone."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from task_console.database import Database
from task_console.errors import Failure
from tests.backends.steps import complete, poll, push

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("postgresql")]


def test_purge_leaves_locked_tasks_and_says_so(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Somebody is looking at one of them."""
    push(backend, repository, topic, "a", "b", "c")
    tasks = poll(backend, repository, topic, 3)
    complete(backend, repository, topic, tasks)
    other = backend.open()
    other.execute(text("SELECT 1 FROM task WHERE sequence = :one FOR UPDATE"), {"one": tasks[0].sequence})
    said = topiq("purge", topic, "--before", "now", "--yes", "--chunk", 2)
    assert said == "2 tasks of topic are deleted; 1 was locked or changed meanwhile\n"


def test_explain_names_a_transaction_that_keeps_old_row_versions(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """With its process, its age and what it does; a short timeout stands for a long wait."""
    push(backend, repository, topic, "a")
    other = backend.open().execution_options(isolation_level="REPEATABLE READ")
    pid = other.execute(text("SELECT pg_backend_pid()")).scalar_one()
    deadline = time.monotonic() + 30
    found: list[dict[str, Any]] = []
    while not found and time.monotonic() < deadline:
        told = topiq.json("explain", topic, "--timeout", "50ms")["findings"]
        found = [finding for finding in told if finding["kind"] == "pinned"]
    [pinned] = found
    assert pinned["message"].startswith(f"Session {pid} of ")
    assert "idle in transaction: SELECT pg_backend_pid()" in pinned["message"]
    assert pinned["blocking"] is False
    backend.rollback(other)
    assert "pinned" not in topiq("explain", topic, "--timeout", "50ms", "--json")


@pytest.mark.usefixtures("topic")
def test_looking_can_not_write(topiq: Topiq) -> None:
    """Looks work in transactions that only read, so that a standby or a role without rights to write will do."""
    with pytest.raises(Failure) as caught, Database.opened(topiq.url) as database, database.read() as tx:
        database.repository.push(tx, "topic", "a")
    assert caught.value.message == "the database refused: cannot execute nextval() in a read-only transaction"
    assert caught.value.exit_code == 1

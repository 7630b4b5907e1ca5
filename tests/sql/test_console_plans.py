"""How the command line's own questions are answered: what they cost does not depend on how much has been finished."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event

from task_api import Condition, TaskState
from task_console import queries
from tests.backends.steps import poll, push

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from task_api import TaskRepository
    from tests.backends import Backend

pytestmark = [pytest.mark.backends("sqlite", "postgresql"), pytest.mark.kinds("connection")]

QUESTIONS: dict[str, Callable[[Connection], object]] = {
    "depths": queries.depths,
    "depths of a topic": lambda connection: queries.depths(connection, ["topic"]),
    "owners": queries.owners,
    "active_of": lambda connection: queries.active_of(connection, "topic", "me"),
    "suspended": lambda connection: queries.suspended(connection, "topic", queries.now(connection)),
    "ended_leases": lambda connection: queries.ended_leases(connection, "topic", queries.now(connection)),
    "waiting": lambda connection: queries.waiting(connection, "topic"),
}
EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN "}
READ_WHOLE = {
    "sqlite": re.compile(r"SCAN (task|other)$|SEARCH \w+ USING INDEX task_(done|rare)\b"),
    "postgresql": re.compile(r"Seq Scan on task(_[0-9a-f]{32})?\b"),
}
HISTORY = """
INSERT INTO task (topic, identifier, state, attempt, token, owner, polled, completed)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
SELECT 'topic', 'done ' || i, 6, 1, 1, 'me', {now}, {now} FROM n
"""
NOW = {"sqlite": "'2026-01-01 00:00:00.000'", "postgresql": "statement_timestamp()"}


@pytest.fixture(params=[False, True], ids=["new", "analyzed"])
def history(request: pytest.FixtureRequest, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """Many tasks that are finished, some that wait, some that are held or failed."""
    backend.sql(HISTORY.format(now=NOW[backend.name]))
    push(backend, repository, topic, *(f"task {i % 50}" for i in range(300)))
    poll(backend, repository, topic, 20, condition=Condition.SINGULAR_BY_IDENTIFIER)
    push(backend, repository, topic, "suspended", suspended=True)
    if request.param:
        with backend.begin() as tx:
            repository.refresh(tx)


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_what_is_finished_is_not_read(backend: Backend, question: Callable[[Connection], object]) -> None:
    """Each state is found by the index that has it (PA-07, DESIGN 4)."""
    asked: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, ___: Any, ____: bool) -> None:  # noqa: ANN401, FBT001
        asked.append((statement, parameters))

    with backend.engine.connect() as connection:
        event.listen(connection, "before_cursor_execute", note)
        answer = question(connection)
        event.remove(connection, "before_cursor_execute", note)
        steps = [
            str(row[-1])
            for statement, parameters in asked
            for row in connection.exec_driver_sql(EXPLAIN[backend.name] + statement, parameters)
        ]
    assert answer is not None
    assert not [step for step in steps if READ_WHOLE[backend.name].search(step)]


@pytest.mark.usefixtures("history")
def test_open_tasks_are_counted_by_their_states(backend: Backend) -> None:
    """Those that are READY come from another index than the others on SQLite (LI-08)."""
    with backend.engine.connect() as connection:
        found = {depth.state: depth.count for depth in queries.depths(connection)}
    assert found == {TaskState.ACTIVE: 20, TaskState.READY: 280, TaskState.SUSPENDED: 1}

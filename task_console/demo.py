"""
A whole life of a queue in one process: push, poll, decide, retry, and a proof at the end.

Every task that succeeds writes a row in the transaction that decides it. Afterwards there are as many rows as
succeeded tasks, however often a task was tried: that is what the queue is for.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import text

import task_sql
from task_api import Task, TaskCreation, TaskDecision, TaskResult, TaskState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from task_api import TaskRepository

__all__ = ["TOPICS", "Observer", "Outcome", "run"]

TOPICS = ("orders", "invoices", "mails")
"""The topics that the tasks are spread over."""

_BATCH = 500
_BACKOFF = timedelta(milliseconds=200)


class Observer(Protocol):
    """Something that is told how far a phase has come."""

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Take note that ``done`` of ``total`` tasks have passed this phase."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the demonstration did."""

    states: dict[str, dict[TaskState, int]]
    """How many tasks of each topic ended in which state."""
    pushed: int
    """How many tasks were pushed."""
    decided: int
    """How many decisions were made; more than tasks, since some were tried twice."""
    effects: int
    """How many rows the tasks wrote in the transactions that decided them."""
    push_seconds: float
    """How long pushing took."""
    work_seconds: float
    """How long polling and deciding took, waiting for retries included."""

    @property
    def succeeded(self) -> int:
        """How many tasks succeeded; as many as there are effects."""
        return sum(states.get(TaskState.SUCCEEDED, 0) for states in self.states.values())


def run(url: str, tasks: int, observe: Observer) -> Outcome:
    """Install the schema at this URL, push so many tasks, and decide them all."""
    engine = task_sql.create_engine(url)
    try:
        repository: TaskRepository[Any] = task_sql.create_repository(engine)
        with engine.begin() as connection:
            _prepare(connection, repository)
        started = time.perf_counter()
        _push(engine, repository, tasks, observe)
        pushed = time.perf_counter()
        decided = _work(engine, repository, tasks, observe)
        worked = time.perf_counter()
        with engine.begin() as connection:
            effects = connection.execute(text("SELECT COUNT(*) FROM demo_effect")).scalar_one()
            counts = repository.count(connection)
    finally:
        engine.dispose()
    return Outcome(
        states={topic: {state: summary.count for state, summary in counts.get(topic, {}).items()} for topic in TOPICS},
        pushed=tasks,
        decided=decided,
        effects=effects,
        push_seconds=pushed - started,
        work_seconds=worked - pushed,
    )


def _prepare(connection: Connection, repository: TaskRepository[Any]) -> None:
    task_sql.schema.install(connection)
    connection.execute(text("CREATE TABLE demo_effect (topic TEXT NOT NULL, identifier TEXT NOT NULL)"))
    repository.register(connection)
    for topic in TOPICS:
        repository.initialize(connection, topic)


def _push(engine: Engine, repository: TaskRepository[Any], tasks: int, observe: Observer) -> None:
    done = 0
    for start in range(0, tasks, _BATCH):
        numbers = range(start, min(start + _BATCH, tasks))
        with engine.begin() as connection:
            for topic, creations in _spread(numbers):
                repository.push_many(connection, topic, creations)
        done += len(numbers)
        observe("pushed", done, tasks)


def _spread(numbers: range) -> Iterator[tuple[str, list[TaskCreation]]]:
    for index, topic in enumerate(TOPICS):
        creations = [
            TaskCreation(f"{topic}-{number}", input=str(number)) for number in numbers if number % len(TOPICS) == index
        ]
        if creations:
            yield topic, creations


def _work(engine: Engine, repository: TaskRepository[Any], tasks: int, observe: Observer) -> int:
    decided = finished = 0
    while finished < tasks:
        before = decided
        for topic in TOPICS:
            with engine.begin() as connection:
                repository.promote(connection, topic)
                polled = repository.poll_many(connection, topic, _BATCH)
            decisions = {task: _decide(task) for task in polled}
            with engine.begin() as connection:
                _apply(connection, topic, decisions)
                repository.complete_many(connection, topic, decisions)
            decided += len(decisions)
            finished += sum(decision.due is None for decision in decisions.values())
            if decisions:
                observe("decided", finished, tasks)
        if decided == before:
            _wait(engine, repository)
    return decided


def _decide(task: Task) -> TaskDecision:
    """One in twenty is filtered, one in ten fails at first, and a few of those again."""
    number = int(task.input or 0) // len(TOPICS)
    if number % 20 == 7:  # noqa: PLR2004 - any remainder would do
        return TaskDecision.filter("nothing to do")
    if number % 10 == 3:  # noqa: PLR2004 - any remainder would do
        if task.attempt == 1:
            return TaskDecision.retry(_BACKOFF, "the first attempt always fails")
        if number % 50 == 3:  # noqa: PLR2004 - any remainder would do
            return TaskDecision.failure("the second attempt failed too")
    return TaskDecision.SUCCESS


def _apply(connection: Connection, topic: str, decisions: dict[Task, TaskDecision]) -> None:
    """Do the work: the effect commits with the decision or not at all."""
    effects = [
        {"topic": topic, "identifier": task.identifier}
        for task, decision in decisions.items()
        if decision.result is TaskResult.SUCCESS
    ]
    if effects:
        connection.execute(text("INSERT INTO demo_effect VALUES (:topic, :identifier)"), effects)


def _wait(engine: Engine, repository: TaskRepository[Any]) -> None:
    """Sleep until the first retry is due."""
    with engine.begin() as connection:
        due = [moment for topic in TOPICS if (moment := repository.next_due(connection, topic)) is not None]
    delay = (min(due) - datetime.now(UTC)).total_seconds() if due else 0
    # At least a moment: the database's clock is the one that decides, and it may lag behind this one.
    time.sleep(max(delay, 0.01))

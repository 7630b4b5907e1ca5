"""
What a worker process runs: the public API, used as an application would.

Says ``done`` with the number of tasks of each batch that was decided, and ``lost`` with that of tasks that others took.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import task_sql
from task_api import Claim, Condition, Order, TaskCreation, TaskDecision
from task_processor import RetryPolicy, TaskListener, TaskManager, UnavailableError, Worker, batch, each
from tests.fire import tables
from tests.fire.talk import engine_of, hear, say
from tests.fire.topics import FAIL, FILTER, LINGER, RAISE, SUSPEND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection, Engine

    from task_api import Task, TaskRepository
    from task_processor import Callback, OnFailure, TaskHandler
    from tests.fire.plan import Duty, Plan

SOON = timedelta(seconds=0.2)


class PlannedError(Exception):
    """A task that is to fail for good, after one more attempt."""


class UpsetError(Exception):
    """Work that raises in the midst of its effects, once."""


RETRY = RetryPolicy(
    12,
    timedelta(seconds=0.1),
    limit=timedelta(seconds=1),
    rules={PlannedError: RetryPolicy(2, SOON), UpsetError: RetryPolicy(1000, SOON, limit=SOON)},
)


class Work(TaskListener):
    """Does what the tasks of one topic say."""

    def __init__(self, duty: Duty, owner: str, engine: Engine, repository: TaskRepository[Any]) -> None:
        self._duty = duty
        self._owner = owner
        self._engine = engine
        self._repository = repository
        self._claimed: float | None = None
        self._batch = 0
        self._place = 0

    def __call__(self, topic: str) -> TaskHandler:
        """Make the handler of the topic."""
        return _Beginning(self, (each(self.single) if self._duty.topic.single else batch(self.whole))(topic))

    def begin(self, tasks: Sequence[Task]) -> None:
        """Take note of a claim, before the transaction that decides it begins."""
        self._claimed, self._batch, self._place = None, secrets.randbits(60), 0
        duty = self._duty
        if duty.claim != Claim.COMMITTED.name:
            return
        if duty.topic.timed:
            try:
                with self._engine.begin() as tx:
                    self._claimed = tables.moment(tx)
            except Exception as error:
                raise UnavailableError from error
        if duty.lease and not duty.extend and any(_first(task, LINGER) for task in tasks):
            tables.wait_for(duty.lease * 1.5)

    def whole(self, tasks: Sequence[Task], tx: Connection) -> Mapping[Task, TaskDecision]:
        """Work on a batch."""
        claimed = self._moment(tx)
        upset = any(_first(task, RAISE) for task in tasks)
        decisions = {task: _decision(task) for task in tasks}
        rows = [self._row(task, decision, place, claimed) for place, (task, decision) in enumerate(decisions.items())]
        tables.write_ledger(tx, [(*row[:6], tables.RAISED, *row[7:]) for row in rows] if upset else rows)
        if upset:
            raise UpsetError
        if self._duty.topic.name == "parts":
            self._join(tx, [task for task, decision in decisions.items() if decision is TaskDecision.SUCCESS])
        return decisions

    def single(self, task: Task, tx: Connection) -> TaskDecision:
        """Work on one task."""
        decision = _decision(task)
        self._place += 1
        row = self._row(task, decision, self._place, None)
        if _first(task, RAISE):
            tables.write_ledger(tx, [(*row[:6], tables.RAISED, *row[7:])])
            raise UpsetError
        tables.write_ledger(tx, [row])
        return decision

    def on_complete(self, topic: str, trace: Any, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ANN401, ARG002
        """Tell."""
        say("done", len(decisions))

    def on_lost(self, topic: str, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401, ARG002 - as declared
        """Tell."""
        say("lost", len(tasks))

    def _moment(self, tx: Connection) -> float | None:
        if self._claimed is None and self._duty.topic.timed:
            return tables.moment(tx)
        return self._claimed

    def _row(self, task: Task, decision: TaskDecision, place: int, claimed: float | None) -> tuple[Any, ...]:
        return (
            self._duty.topic.name,
            task.sequence,
            task.identifier,
            self._owner,
            task.attempt,
            task.token,
            int(decision.result),
            self._batch,
            place,
            claimed,
        )

    def _join(self, tx: Connection, parts: Sequence[Task]) -> None:
        """Bring parts of groups, and release the groups that are complete with them."""
        if not parts:
            return
        identifiers = [task.identifier.rpartition("-")[0] for task in parts]
        pushed = self._repository.push_many(
            tx, "joined", [TaskCreation(name, "s", suspended=True) for name in identifiers]
        )
        tables.write_notes(tx, [(self._owner, "joined", task.sequence, task.identifier, "APPEND") for task in pushed])
        groups = {
            name.rpartition("-")[0]: int(task.identifier.rpartition("-")[2])
            for task, name in zip(parts, identifiers, strict=True)
        }
        self._repository.junction(tx, "joined", [[f"{name}-{n}" for n in range(size)] for name, size in groups.items()])


class _Beginning:
    """A handler that takes note of claims before it works."""

    def __init__(self, work: Work, handler: TaskHandler) -> None:
        self._work = work
        self._handler = handler

    def __call__(self, tasks: Sequence[Task], callback: Callback, on_failure: OnFailure, /) -> None:
        """Do both."""
        self._work.begin(tasks)
        self._handler(tasks, callback, on_failure)

    def close(self) -> None:
        """Close the handler."""
        self._handler.close()


def _first(task: Task, what: str) -> bool:
    return task.input == what and task.attempt == 1


def _decision(task: Task) -> TaskDecision:
    if task.input == FILTER:
        return TaskDecision.FILTER
    if task.input == FAIL:
        return TaskDecision.failure(PlannedError())
    if _first(task, SUSPEND):
        return TaskDecision.suspension("planned", due=SOON)
    return TaskDecision.SUCCESS


def main(plan: Plan, number: int, name: str, url: str) -> None:
    """Work until a signal says otherwise."""
    hear(lambda _: None)
    duties = plan.duties(number)
    engine = engine_of(plan, url, len(duties) * 2 + 4)
    repository = task_sql.create_repository(engine, owner=name)
    managers = []
    for duty in duties:
        work = Work(duty, name, engine, repository)
        claim = Claim[duty.claim]
        managers.append(
            TaskManager(
                duty.topic.name,
                repository,
                engine.begin,
                work,
                listener=work,
                order=Order[duty.topic.order],
                condition=Condition[duty.topic.condition],
                claim=claim,
                ahead=duty.ahead,
                size=duty.size,
                lease=timedelta(seconds=duty.lease) if duty.lease else None,
                extend=duty.extend,
                retry=RETRY,
                pause=timedelta(seconds=plan.pause),
            )
        )
    notified = plan.chance("notified", number).random() < 0.5 and not plan.pooled
    Worker(
        repository,
        engine.begin,
        managers,
        heartbeat=timedelta(seconds=plan.heartbeat),
        expiry=timedelta(seconds=plan.expiry),
        notifier=task_sql.create_notifier(engine) if notified else None,
    ).run()
    engine.dispose()

"""Every argument of what makes processors, handlers, decisions and repositories."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy
from hypothesis import given, note
from hypothesis import strategies as st

import task_api
import task_processor
import task_sql
from task_api import Task, TaskCreation, TaskDecision, TaskError, TaskResult, chain, chord, group
from task_processor import (
    BufferingTaskHandlerFactory,
    CompositeTaskHandlerFactory,
    DetachedTaskHandlerFactory,
    PersistentTaskProcessor,
    RetryPolicy,
    StateMachine,
    TaskConsumerContext,
    TaskLimiter,
    TaskManager,
    TimeSlots,
    Transition,
    Worker,
    batch,
    each,
    partial_batch,
    tagging,
)
from task_sql import SqliteTaskRepository, create_engine, create_repository
from tests.fuzz.profiles import profile
from tests.fuzz.values import Values, anything, made

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

ALLOWED = (TaskError, TypeError, ValueError, sqlalchemy.exc.ArgumentError)


def work(task: object) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Factory:
    """Something that makes something, with arguments that are right."""

    make: Callable[..., object]
    good: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self) -> list[str]:
        """Those that may be wrong."""
        signature = inspect.signature(self.make)
        return [
            name
            for name, each in signature.parameters.items()
            if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        ]


REPOSITORY = SqliteTaskRepository("me")
MANAGER: dict[str, Any] = {
    "topic": "topic",
    "source": REPOSITORY,
    "dispatcher": nullcontext,
    "handler_factory": each(work),
}
COMPOSITE = CompositeTaskHandlerFactory()
FACTORIES: dict[str, Factory] = {
    "TaskCreation": Factory(TaskCreation, {"identifier": "a"}),
    "TaskDecision": Factory(TaskDecision, {"result": TaskResult.SUCCESS}),
    "TaskDecision.success": Factory(TaskDecision.success),
    "TaskDecision.failure": Factory(TaskDecision.failure),
    "TaskDecision.filter": Factory(TaskDecision.filter),
    "TaskDecision.suspension": Factory(TaskDecision.suspension),
    "TaskDecision.retry": Factory(TaskDecision.retry, {"after": timedelta(1)}),
    "chain": Factory(lambda item: chain(item, "b"), {"item": "a"}),
    "group": Factory(lambda item: group(item, "b"), {"item": "a"}),
    "chord": Factory(chord, {"group": group("a", "b"), "last": "c"}),
    "TaskManager": Factory(TaskManager, MANAGER),
    "RetryPolicy": Factory(RetryPolicy, {"max_attempts": 3}),
    "TaskLimiter.bounded": Factory(TaskLimiter.bounded, {"slots": 1}),
    "TaskLimiter.prioritizing": Factory(TaskLimiter.prioritizing, {"slots": 1, "priority": len}),
    "BufferingTaskHandlerFactory": Factory(
        BufferingTaskHandlerFactory, {"handler_factory": each(work), "buffer": 2, "workers": 1}
    ),
    "CompositeTaskHandlerFactory": Factory(CompositeTaskHandlerFactory),
    "CompositeTaskHandlerFactory.each": Factory(COMPOSITE.each, {"name": "step", "fn": work}),
    "CompositeTaskHandlerFactory.batch": Factory(COMPOSITE.batch, {"name": "step", "fn": work}),
    "StateMachine": Factory(StateMachine, {"initial": "a"}),
    "StateMachine.on": Factory(StateMachine("a").on, {"state": "a", "fn": work}),
    "Transition.to": Factory(Transition.to, {"state": "a"}),
    "Transition.stay": Factory(Transition.stay, {"data": "a", "check_after": timedelta(1)}),
    "Transition.finish": Factory(Transition.finish),
    "Transition.fail": Factory(Transition.fail, {"error": "x"}),
    "TimeSlots": Factory(TimeSlots, {"repository": REPOSITORY, "topic": "t", "interval": timedelta(hours=1)}),
    "DetachedTaskHandlerFactory": Factory(
        DetachedTaskHandlerFactory, {"function": "json:dumps", "url": "sqlite:///x.db", "logs": "logs"}
    ),
    "Worker": Factory(
        Worker, {"repository": REPOSITORY, "dispatcher": nullcontext, "processors": [TaskManager(**MANAGER)]}
    ),
    "PersistentTaskProcessor": Factory(
        PersistentTaskProcessor,
        {"processor": TaskManager(**MANAGER), "repository": REPOSITORY, "dispatcher": nullcontext},
    ),
    "TaskConsumerContext": Factory(
        TaskConsumerContext, {"topic": "t", "tasks": [Task(1, "a")], "repository": REPOSITORY}
    ),
    "each": Factory(each, {"fn": work}),
    "batch": Factory(batch, {"fn": work}),
    "partial_batch": Factory(partial_batch, {"fn": work, "predicate": bool}),
    "tagging": Factory(tagging),
    "SqliteTaskRepository": Factory(SqliteTaskRepository),
    "PostgresTaskRepository": Factory(task_sql.PostgresTaskRepository),
    "OracleTaskRepository": Factory(task_sql.OracleTaskRepository),
    "create_repository": Factory(create_repository, {"engine": sqlalchemy.create_engine("sqlite://")}),
    "create_engine": Factory(create_engine, {"url": "sqlite://"}),
}
# Records that the library fills, what is derived from, and what takes nothing or a function of the caller's alone.
NOT_FUZZED = {
    *("Checkpoint", "CompositeTaskContext", "DetachedFolder", "DetachedProcess", "DuplicateFilter", "HandedOverError"),
    *("HeldTask", "RenewingExecutor", "SlotCoverage", "TaskContext", "TaskLimiter", "TaskListener", "TaskSupplement"),
    *("TaskToken", "TimeSlot", "TopicStatistics", "Transition", "WorkerHealth", "savepoint"),
    *("Notifier", "PollingNotifier", "SqlTaskRepository", "AsyncTaskRepository", "create_notifier", "prepare_sqlite"),
    *("Counting", "Dependency", "Listing", "Summary", "Task", "TaskGraph", "TaskInfo", "TaskRef"),
    *("combine_decisions", "merge_decisions"),
}


@st.composite
def arguments(draw: st.DrawFn, factory: Factory) -> dict[str, Any]:
    """Good arguments, except for one or two."""
    wrong = draw(st.lists(st.sampled_from(factory.parameters()), min_size=1, max_size=2))
    values: Values = anything
    return {**factory.good, **{name: draw(values) for name in wrong}}


@pytest.mark.parametrize("name", FACTORIES)
def test_what_is_made_of_bad_arguments(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused as a wrong argument is, by the library or by Python, or made (IN-B7)."""
    monkeypatch.chdir(tmp_path)
    factory = FACTORIES[name]

    @profile(60)
    @given(arguments(factory))
    def check(drawn: dict[str, Any]) -> None:
        note(f"{name}({', '.join(f'{each}={value!r}' for each, value in drawn.items())})")
        try:
            result = factory.make(**{each: made(value) for each, value in drawn.items()})
        except ALLOWED as error:
            note(f"raised {error!r}")
        else:
            if isinstance(result, sqlalchemy.Engine):
                result.dispose()

    check()


def test_every_factory_is_tried() -> None:
    """What is new among the public names is not forgotten."""
    public = {
        name
        for package in (task_api, task_processor, task_sql)
        for name in package.__all__
        if _makes(getattr(package, name))
    }
    tried = {name.partition(".")[0] for name in FACTORIES}
    assert public - tried - NOT_FUZZED == set()
    assert NOT_FUZZED & FACTORIES.keys() == set()


def _makes(value: object) -> bool:
    if inspect.isfunction(value):
        return True
    is_class = inspect.isclass(value) and not getattr(value, "_is_protocol", False)
    return is_class and not issubclass(value, Enum | BaseException)  # type: ignore[arg-type]

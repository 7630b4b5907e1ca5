"""Functions for parts of a batch and for duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from task_api import Task, TaskDecision, TaskResult, TaskResultError
from task_processor import CompositeTaskHandlerFactory, DuplicateFilter, TaskSupplement, partial_batch
from tests.processor.test_composite import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from task_processor import StepFunction

A, B, C = Task(1, "a"), Task(2, "b"), Task(3, "b")
SUCCESS = TaskDecision.SUCCESS
forms = pytest.mark.parametrize("asynchronous", [False, True])


def run(function: StepFunction, *tasks: Task) -> dict[Task, TaskDecision]:
    """Use the function as the only step."""
    return decide(CompositeTaskHandlerFactory().batch("step", function), *tasks)


def form(function: StepFunction, *, asynchronous: bool) -> StepFunction:
    """The function, or a coroutine function that does the same."""

    async def call(tasks: Sequence[Task], supplement: TaskSupplement) -> object:
        return function(tasks, supplement)

    return call if asynchronous else function


def is_b(task: Task) -> bool:
    """Match."""
    return task.identifier == "b"


@forms
def test_only_matching_tasks_are_passed_on(asynchronous: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """The rest gets the fallback; without a match nothing is called (CS-25)."""
    seen: list[list[Task]] = []

    def work(tasks: Sequence[Task], _: TaskSupplement) -> dict[Task, TaskDecision]:
        seen.append(list(tasks))
        return dict.fromkeys(tasks, TaskDecision.FILTER)

    function = partial_batch(form(work, asynchronous=asynchronous), is_b)
    assert run(function, A, B, C) == {A: SUCCESS, B: TaskDecision.FILTER, C: TaskDecision.FILTER}
    assert run(function, A) == {A: SUCCESS}
    assert seen == [[B, C]]
    suspended = partial_batch(lambda _: None, is_b, fallback=TaskDecision.SUSPENSION)
    assert run(suspended, A, B) == {A: TaskDecision.SUSPENSION, B: SUCCESS}


@forms
def test_errors_fail_only_the_matching_tasks(asynchronous: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Raised at once or awaited, plain or with a result (CS-25, CS-B10)."""
    error: Exception = ValueError("bad")

    def work(_: Sequence[Task], __: TaskSupplement) -> None:
        raise error

    function = partial_batch(form(work, asynchronous=asynchronous), is_b)
    found = run(function, A, B)
    assert (found[A], found[B].result, found[B].exception) == (SUCCESS, TaskResult.FAILURE, error)
    error = TaskResultError(TaskResult.SUSPENSION, "later")
    assert run(function, A, B) == {A: SUCCESS, B: TaskDecision.suspension("later")}


def test_a_matching_task_without_decision_fails() -> None:
    """It does not get the fallback (CS-B10)."""
    found = run(partial_batch(lambda tasks: {tasks[0]: SUCCESS}, is_b), A, B, C)
    assert [found[task].result for task in (A, B, C)] == [TaskResult.SUCCESS, TaskResult.SUCCESS, TaskResult.FAILURE]


def test_outdated_tasks_are_filtered() -> None:
    """Of each identifier the newest succeeds, whatever the order of the batch (CS-26)."""
    for tasks in ((A, B, C), (C, B, A)):
        assert run(DuplicateFilter.outdated(), *tasks) == {A: SUCCESS, B: TaskDecision.FILTER, C: SUCCESS}
    everything = DuplicateFilter.outdated(lambda _: 0, decision=TaskDecision.SUSPENSION)
    assert run(everything, A, B) == {A: TaskDecision.SUSPENSION, B: SUCCESS}


def test_all_duplicates_fail() -> None:
    """Every member of a group of several; single tasks succeed (CS-26)."""
    failure = TaskDecision.FAILURE
    assert run(DuplicateFilter.all(), A, B, C) == {A: SUCCESS, B: failure, C: failure}
    odd = DuplicateFilter.all(lambda task: task.sequence % 2, decision=TaskDecision.FILTER)
    assert run(odd, A, B, C) == {A: TaskDecision.FILTER, B: SUCCESS, C: TaskDecision.FILTER}

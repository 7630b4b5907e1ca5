"""The retry policy turns failures into further attempts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, InvalidTaskError, Task, TaskDecision, TaskRepository, TaskResult, TaskState
from task_processor import RetryPolicy, each
from tests.backends.steps import info, push
from tests.processor.support import Recorder, running

if TYPE_CHECKING:
    from tests.backends import Backend

SECOND = timedelta(seconds=1)


def attempt(number: int) -> Task:
    """A task in its so many-th attempt."""
    return Task(1, "a", attempt=number)


def test_each_wait_is_twice_the_one_before() -> None:
    """Without luck the waits double, up to the limit; the last attempt fails for good (DESIGN 5)."""
    policy = RetryPolicy(6, backoff=SECOND, limit=timedelta(seconds=6), chance=lambda: 0.5)
    dues = [policy.apply(attempt(number), TaskDecision.FAILURE).due for number in range(1, 7)]
    assert dues == [SECOND, 2 * SECOND, 4 * SECOND, 6 * SECOND, 6 * SECOND, None]


@pytest.mark.parametrize(("chance", "expected"), [(0.0, 0.5), (0.5, 1.0), (1.0, 1.5)])
def test_waits_are_spread(chance: float, expected: float) -> None:
    """The wait lies within half of itself (DESIGN 5)."""
    policy = RetryPolicy(2, SECOND, chance=lambda: chance)
    assert policy.apply(attempt(1), TaskDecision.FAILURE).due == expected * SECOND


def test_only_failures_without_a_due_time_are_tried_again() -> None:
    """What is no failure, or says when it comes back, stays as it is (DESIGN 5)."""
    policy = RetryPolicy(9, SECOND)
    decided = [TaskDecision(result) for result in TaskResult if result is not TaskResult.FAILURE]
    decided.append(TaskDecision.retry(timedelta(days=1)))
    assert [policy.apply(attempt(1), decision) for decision in decided] == decided


def test_the_problem_is_kept() -> None:
    """Message, error and continuation stay with the decision (DESIGN 5)."""
    error = ValueError("bad")
    decision = TaskDecision(TaskResult.FAILURE, "message", error, continued=True)
    retried = RetryPolicy(2).apply(attempt(1), decision)
    assert (retried.message, retried.exception, retried.continued) == ("message", error, True)


def test_types_of_errors_have_rules_of_their_own() -> None:
    """The closest base class counts, None means no further attempt (DESIGN 5)."""
    rules = {OSError: RetryPolicy(9, 10 * SECOND, chance=lambda: 0.5), FileNotFoundError: None}
    policy = RetryPolicy(2, SECOND, rules=rules, chance=lambda: 0.5)

    def due(*errors: Exception) -> object:
        decision = TaskDecision.FAILURE
        for error in errors:
            decision = decision.merge(TaskDecision.failure(error))
        return policy.apply(attempt(1), decision).due

    assert due(ValueError()) == SECOND
    assert due(ConnectionError()) == 10 * SECOND
    assert due(FileNotFoundError()) is None
    assert due(ConnectionError(), FileNotFoundError()) is None
    assert due(ConnectionError(), ValueError()) == SECOND


@pytest.mark.parametrize(
    "arguments", [{"max_attempts": 0}, {"max_attempts": 2, "backoff": -SECOND}, {"max_attempts": 2, "limit": 3}]
)
def test_wrong_policies_are_refused(arguments: dict[str, Any]) -> None:
    """A policy that can't mean anything is an error at once (DESIGN 5)."""
    with pytest.raises(InvalidTaskError):
        RetryPolicy(**arguments)


@pytest.mark.kinds("driver")
@pytest.mark.parametrize("claim", Claim)
def test_a_failed_task_comes_back_until_its_last_attempt(
    backend: Backend, repository: TaskRepository[Any], topic: str, claim: Claim
) -> None:
    """SUSPENDED with its problem kept, promoted when due, FAILED in the end (DESIGN 5, TM-19)."""
    [task] = push(backend, repository, topic, "a")
    attempts = []

    def fail(task: Task) -> None:
        attempts.append(task.attempt)
        message = f"attempt {task.attempt}"
        raise ValueError(message)

    policy = RetryPolicy(3, timedelta())
    seen = []
    for _ in range(3):
        recorder = Recorder()
        with running(backend, repository, each(fail), retry=policy, claim=claim, listener=recorder):
            recorder.wait("empty")
        stored = info(backend, repository, topic, task)
        seen.append((stored.state, f"attempt {stored.attempt}" in (stored.output or "")))
        with backend.begin() as tx:
            repository.promote(tx, topic)

    assert attempts == [1, 2, 3]
    assert seen == [(TaskState.SUSPENDED, True), (TaskState.SUSPENDED, True), (TaskState.FAILED, True)]

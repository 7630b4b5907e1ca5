"""State machines whose work fails, is unavailable, or meets a state or data that it can't go on with."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Task, TaskRepository, TaskResult, TaskResultError, TaskState
from task_processor import RetryPolicy, UnavailableError
from task_processor.machine.machine import StateMachine
from task_processor.machine.transition import Transition
from tests.backends.steps import info, push
from tests.siblings.machines import LONG, come_back, finish, run_through, state_of, stored

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]


async def _fail_soon(*_: object) -> Transition:
    await asyncio.sleep(0)
    message = "not now"
    raise ConnectionError(message)


def _fail(*_: object) -> Transition:
    message = "not now"
    raise ConnectionError(message)


@pytest.mark.parametrize("work", [_fail, _fail_soon])
def test_work_that_raises_is_a_failure_for_the_managers_policy(
    backend: Backend, repository: Repository, topic: str, work: Callable[..., Any]
) -> None:
    """It is tried again in its state, and parked after enough attempts (S0-16, S0-20, S0-B8)."""
    [task] = push(backend, repository, topic, "a", input=stored("second", 7))
    machine = StateMachine("first").on("first", finish).on("second", work)
    factory = machine.bind(repository, backend.begin)
    seen = []
    for _ in range(2):
        run_through(backend, repository, factory, retry=RetryPolicy(2, timedelta()))
        seen.append(info(backend, repository, topic, task))
        with backend.begin() as tx:
            repository.promote(tx, topic)
    assert [(each.state, state_of(each)) for each in seen] == [
        (TaskState.SUSPENDED, ("second", 7)),
        (TaskState.FAILED, ("second", 7)),
    ]
    assert all("ConnectionError: not now" in (each.output or "") for each in seen)


def test_failures_of_one_state_in_a_row_are_counted(backend: Backend, repository: Repository, topic: str) -> None:
    """Neither waits nor earlier states use up the attempts of the machine's own policy (S0-B8)."""
    [task] = push(backend, repository, topic, "a")
    script = ["stay", "stay", "stay", "raise", "stay", "raise", "to", "raise", "raise", "raise"]
    played = iter(script)
    outputs: list[str | None] = []

    def play(*_: object) -> Transition:
        match next(played):
            case "stay":
                return Transition.stay(None, LONG)
            case "to":
                return Transition.to("other")
            case _:
                return _fail()

    machine = StateMachine("first").on("first", play).on("other", play)
    factory = machine.bind(repository, backend.begin, retry=RetryPolicy(3, LONG))
    runs = [TaskState.SUSPENDED] * 8 + [TaskState.FAILED]  # the transition goes on at once
    for expected in runs:
        run_through(backend, repository, factory)
        found = info(backend, repository, topic, task)
        assert found.state is expected
        outputs.append(found.input)
        if expected is TaskState.SUSPENDED:
            come_back(backend, repository, topic, task)
    assert next(played, None) is None
    assert outputs == [
        *[stored("first")] * 3,
        stored("first", failures=1),
        stored("first"),
        stored("first", failures=1),
        stored("other", failures=1),
        stored("other", failures=2),
        stored("other"),
    ]


def test_a_failure_that_is_meant_is_not_tried_again(backend: Backend, repository: Repository, topic: str) -> None:
    """The machine's own policy is about errors that were raised (S0-B8)."""
    [task] = push(backend, repository, topic, "a")
    machine = StateMachine("first").on("first", lambda *_: Transition.fail("no"))
    run_through(backend, repository, machine.bind(repository, backend.begin, retry=RetryPolicy(5)))
    found = info(backend, repository, topic, task)
    assert (found.state, found.output) == (TaskState.FAILED, "no")


def test_work_may_choose_its_result_by_an_error(backend: Backend, repository: Repository, topic: str) -> None:
    """As everywhere, and a policy leaves what is no failure alone (DE-11)."""
    [task] = push(backend, repository, topic, "a")

    def work(*_: object) -> Transition:
        raise TaskResultError(TaskResult.FILTER, "nothing to do")

    factory = StateMachine("first").on("first", work).bind(repository, backend.begin, retry=RetryPolicy(3))
    run_through(backend, repository, factory)
    found = info(backend, repository, topic, task)
    assert (found.state, found.output, found.input) == (TaskState.FILTERED, "nothing to do", None)


def test_an_unknown_state_is_left_for_a_version_that_knows_it(
    backend: Backend, repository: Repository, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It waits with all that it has, and holds nobody up (S0-21, S0-B6)."""
    text = stored("new", {"kept": True})
    [new] = push(backend, repository, topic, "new", input=text)
    others = push(backend, repository, topic, "b", "c")
    old = StateMachine("first").on("first", finish)
    run_through(backend, repository, old.bind(repository, backend.begin, postpone=LONG), size=1)
    found = info(backend, repository, topic, new)
    assert (found.state, found.input) == (TaskState.SUSPENDED, text)
    assert found.due is not None
    assert "state 'new' is not known to this version of the code" in caplog.text
    assert {info(backend, repository, topic, each).state for each in others} == {TaskState.SUCCEEDED}

    come_back(backend, repository, topic, new)
    run_through(backend, repository, old.on("new", finish).bind(repository, backend.begin))
    assert info(backend, repository, topic, new).output == '{"kept": true}'


def test_an_unknown_state_uses_up_no_failures(backend: Backend, repository: Repository, topic: str) -> None:
    """However often it was left, the work gets all its attempts afterwards (S0-21, S0-B8)."""
    [task] = push(backend, repository, topic, "a", input=stored("new", failures=1))
    old = StateMachine("first").on("first", finish)
    for _ in range(3):
        run_through(backend, repository, old.bind(repository, backend.begin))
        come_back(backend, repository, topic, task)
    assert info(backend, repository, topic, task).input == stored("new", failures=1)


def test_work_that_is_unavailable_waits(
    backend: Backend, repository: Repository, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is no failure, and comes back after a while (S0-20)."""
    [task] = push(backend, repository, topic, "a", input="1")

    def work(*_: object) -> Transition:
        message = "the service is down"
        raise UnavailableError(message)

    machine = StateMachine("first").on("first", work)
    run_through(backend, repository, machine.bind(repository, backend.begin), retry=RetryPolicy(1))
    found = info(backend, repository, topic, task)
    assert (found.state, found.output, found.input) == (TaskState.SUSPENDED, "the service is down", "1")
    assert found.due is not None
    assert found.completed is not None
    assert found.due - found.completed == pytest.approx(timedelta(seconds=30), abs=timedelta(seconds=1))
    assert "the service is down" in caplog.text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, "can't be read"),
        ("9" * 5_000, "can't be read"),
        ('{"topiq.state": "first", "data": NaN}', "NaN is not JSON"),
        (stored("  "), "state must not be empty or blank"),
        (json.dumps({"topiq.state": 1, "data": None}), "state must be a str, not int"),
        (stored("first", failures="many"), "failures are no number"),
    ],
)
def test_undecodable_data_fails_with_a_clear_message(
    backend: Backend, repository: Repository, topic: str, text: str, problem: str
) -> None:
    """The task and its input are kept, the others go on (S0-20)."""
    task, other = push(backend, repository, topic, "a", input=text) + push(backend, repository, topic, "b")
    run_through(backend, repository, StateMachine("first").on("first", finish).bind(repository, backend.begin))
    found = info(backend, repository, topic, task)
    assert (found.state, found.input) == (TaskState.FAILED, text)
    assert problem in (found.output or "")
    assert info(backend, repository, topic, other).state is TaskState.SUCCEEDED


@pytest.mark.parametrize(
    ("outcome", "problem"),
    [
        (None, "the work of state 'first' must give a Transition, not NoneType; if all is done, Transition.finish()"),
        ("done", "must give a Transition, not str"),
        (Transition, "must give a Transition, not type"),
        (Transition.to("nowhere"), "there is no state 'nowhere' in this machine; its states: 'first', 'second'"),
        (Transition(), "there is no state None in this machine"),
    ],
)
@pytest.mark.parametrize("form", ["plain", "asynchronous"])
def test_what_work_must_not_give_is_a_failure_in_its_state(  # noqa: PLR0917 - parametrized
    backend: Backend, repository: Repository, topic: str, outcome: object, problem: str, form: str
) -> None:
    """A mistake in the code fails the task where it stands, so that it can be revived once mended (S0-16)."""
    [task] = push(backend, repository, topic, "a", input="[1]")

    async def soon(*_: object) -> object:
        await asyncio.sleep(0)
        return outcome

    machine = (
        StateMachine("first").on("first", soon if form == "asynchronous" else lambda *_: outcome).on("second", finish)
    )
    run_through(backend, repository, machine.bind(repository, backend.begin))
    found = info(backend, repository, topic, task)
    assert (found.state, found.input) == (TaskState.FAILED, "[1]")
    assert problem in (found.output or "")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, StopIteration, asyncio.CancelledError])
@pytest.mark.parametrize("form", ["plain", "asynchronous"])
def test_no_error_of_work_ends_more_than_its_task(
    backend: Backend, repository: Repository, topic: str, error: type[BaseException], form: str
) -> None:
    """Whatever it raises fails this task, and the others go on (S0-B7)."""
    task, other = push(backend, repository, topic, "a", "b")

    def work(task: Task, data: object) -> Transition:
        if task.identifier == "a":
            raise error
        return finish(task, data)

    async def soon(task: Task, data: object) -> Transition:
        return work(task, data)

    machine = StateMachine("first").on("first", soon if form == "asynchronous" else work)
    run_through(backend, repository, machine.bind(repository, backend.begin))
    assert info(backend, repository, topic, task).state is TaskState.FAILED
    assert info(backend, repository, topic, other).state is TaskState.SUCCEEDED

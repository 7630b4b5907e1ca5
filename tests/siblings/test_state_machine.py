"""State machines: from state to state, waiting and ending."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Revivification, Task, TaskDecision, TaskRepository, TaskState
from task_processor import RetryPolicy
from task_processor.machine.machine import StateMachine
from task_processor.machine.transition import Transition
from tests.backends.steps import info, push, states
from tests.processor.support import Gate, Recorder, running, working
from tests.siblings.machines import LONG, come_back, finish, machine_threads, run_through, state_of, stored

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]


@pytest.mark.parametrize("form", ["plain", "asynchronous", "mixed"])
def test_a_task_goes_through_its_states_under_one_claim(
    backend: Backend, repository: Repository, topic: str, form: str
) -> None:
    """Each state is worked on at once by its own function, with what the one before left (S0-11)."""
    seen: list[tuple[str, object, int]] = []

    def load(task: Task, data: Any) -> Transition:  # noqa: ANN401 - JSON
        seen.append(("load", data, task.token))
        return Transition.to("check", {"pages": 3})

    async def load_soon(task: Task, data: Any) -> Transition:  # noqa: ANN401 - JSON
        await asyncio.sleep(0)
        return load(task, data)

    def check(task: Task, data: Any) -> Transition:  # noqa: ANN401 - JSON
        seen.append(("check", data, task.token))
        return Transition.to("close", (data["pages"], None))

    async def check_soon(task: Task, data: Any) -> Transition:  # noqa: ANN401 - JSON
        await asyncio.sleep(0)
        return check(task, data)

    machine = (
        StateMachine("load")
        .on("load", load if form == "plain" else load_soon)
        .on("check", check_soon if form == "asynchronous" else check)
        .on("close", finish)
    )
    [task] = push(backend, repository, topic, "a", input='{"name": "a"}')
    recorder = run_through(backend, repository, machine.bind(repository, backend.begin))
    assert seen == [("load", {"name": "a"}, 1), ("check", {"pages": 3}, 1)]
    found = info(backend, repository, topic, task)
    assert (found.state, found.attempt, found.output) == (TaskState.SUCCEEDED, 1, "[3, null]")
    assert [name for name in recorder.names() if name != "dispatched"] == ["start", "callback", "complete"]
    assert machine_threads() == []


@pytest.mark.parametrize(
    "text",
    [
        None,
        "0",
        '"text"',
        "[1, {}]",
        '{"a": {"b": "\\u0000 ü"}}',
        '{"topiq.state": "other"}',
        '{"topiq.state": "other", "data": 1, "more": 2}',
        '{"state": "other", "data": 1}',
    ],
)
def test_the_first_input_is_the_data_of_the_initial_state(
    backend: Backend, repository: Repository, topic: str, text: str | None
) -> None:
    """Whatever JSON it is; no input is None (S0-01)."""
    [task] = push(backend, repository, topic, "a", input=text)
    run_through(backend, repository, StateMachine("first").on("first", finish).bind(repository, backend.begin))
    assert json.loads(info(backend, repository, topic, task).output or "") == json.loads(text or "null")


@pytest.mark.parametrize(
    "text", ["plain text", '{"a": ', "[NaN]", "-Infinity", "\ufeff1", "007", "{'topiq.state': 'b'}"]
)
def test_a_first_input_that_is_no_json_is_taken_as_text(
    backend: Backend, repository: Repository, topic: str, text: str
) -> None:
    """The initial state gets it as it is, and again after a failure; what is stored from then on is JSON (S0-01)."""
    [task] = push(backend, repository, topic, "a", input=text)

    def first(task: Task, data: object) -> Transition:
        if task.attempt == 1:
            message = "not yet"
            raise ValueError(message)
        return Transition.to("second", data)

    machine = StateMachine("first").on("first", first).on("second", finish)
    factory = machine.bind(repository, backend.begin, retry=RetryPolicy(2))
    run_through(backend, repository, factory)
    assert info(backend, repository, topic, task).input == stored("first", text, failures=1)
    come_back(backend, repository, topic, task)
    run_through(backend, repository, factory)
    found = info(backend, repository, topic, task)
    assert (found.state, found.output) == (TaskState.SUCCEEDED, json.dumps(text))
    assert state_of(found) == ("second", text)


def test_a_state_is_stored_before_its_work_begins(backend: Backend, repository: Repository, topic: str) -> None:
    """Others see it at once, while the task is still held (S0-09, S0-11, S0-19, S0-B4)."""
    [task] = push(backend, repository, topic, "a")
    seen = []

    def second(task: Task, _: object) -> Transition:
        seen.append(info(backend, repository, topic, task))
        return Transition.finish()

    machine = StateMachine("first").on("first", lambda *_: Transition.to("second", [1])).on("second", second)
    run_through(backend, repository, machine.bind(repository, backend.begin))
    [during] = seen
    assert (during.state, state_of(during), during.owner) == (TaskState.ACTIVE, ("second", [1]), "me")
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


def test_whoever_comes_after_a_crash_goes_on_with_the_last_state(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """What was stored is not done again, and the late comer's result is dropped (S0-16, P1, P2)."""
    [task] = push(backend, repository, topic, "a")
    firsts: list[str] = []
    other = backend.repository("other")

    def machine(work: Callable[[Task, object], Transition]) -> StateMachine:
        def first(*_: object) -> Transition:
            firsts.append("first")
            return Transition.to("second", "data")

        return StateMachine("first").on("first", first).on("second", work)

    with Gate() as gate:

        def slow(*_: object) -> Transition:
            gate.pass_through()
            return Transition.finish("late")

        with running(backend, repository, machine(slow).bind(repository, backend.begin, interval=LONG)):
            gate.wait()
            backend.age_owner("me", 3600)
            with backend.begin() as tx:
                assert other.expire(tx, timedelta(minutes=30)) == 1
                other.recreate(tx, topic, Revivification.RESET, [task])
            run_through(backend, other, machine(finish).bind(other, backend.begin))
            gate.open()
    assert firsts == ["first"]
    assert info(backend, repository, topic, task).output == '"data"'


def test_a_state_may_begin_again_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """With other data, or with the same, under the same claim (S0-17)."""
    [task] = push(backend, repository, topic, "a", input="0")

    def count(_: Task, number: int) -> Transition:
        return Transition.to("count", number + 1) if number < 5 else Transition.finish(str(number))

    run_through(backend, repository, StateMachine("count").on("count", count).bind(repository, backend.begin))
    found = info(backend, repository, topic, task)
    assert (found.state, found.output, found.token) == (TaskState.SUCCEEDED, "5", 1)


def test_a_task_that_stays_waits_in_its_state(backend: Backend, repository: Repository, topic: str) -> None:
    """It is SUSPENDED with its new data until it is due by the database's clock (S0-10, S0-B3)."""
    [task] = push(backend, repository, topic, "a")
    moment = datetime(2100, 1, 1, tzinfo=UTC)
    machine = StateMachine("wait").on("wait", lambda *_: Transition.stay({"asked": 1}, moment))
    run_through(backend, repository, machine.bind(repository, backend.begin))
    found = info(backend, repository, topic, task)
    assert (found.state, found.due, state_of(found)) == (TaskState.SUSPENDED, moment, ("wait", {"asked": 1}))
    with backend.begin() as tx:
        assert repository.promote(tx, topic) == 0


def test_a_task_asks_again_and_again(backend: Backend, repository: Repository, topic: str) -> None:
    """A worker promotes it each time, until it ends; a task pushed meanwhile is worked on at once (S0-10, S0-18)."""
    asked: list[int] = []
    recorder = Recorder()

    def ask(_: Task, number: int) -> Transition:
        asked.append(number)
        return Transition.stay(number + 1, timedelta(milliseconds=1)) if number < 3 else Transition.finish()

    [task] = push(backend, repository, topic, "a", input="0")
    factory = StateMachine("ask").on("ask", ask).bind(repository, backend.begin)
    with working(backend, repository, factory, options={"listener": recorder}):
        recorder.wait("complete", 4)
    assert asked == [0, 1, 2, 3]
    assert states(backend, repository, topic) == {task.sequence: TaskState.SUCCEEDED}


def test_without_a_time_a_task_waits_to_be_told(backend: Backend, repository: Repository, topic: str) -> None:
    """It is SUSPENDED with no due time (S0-10)."""
    [task] = push(backend, repository, topic, "a")
    machine = StateMachine("wait").on("wait", lambda *_: Transition.stay(None))
    run_through(backend, repository, machine.bind(repository, backend.begin))
    found = info(backend, repository, topic, task)
    assert (found.state, found.due) == (TaskState.SUSPENDED, None)


def test_a_task_that_ended_stays_as_a_record(backend: Backend, repository: Repository, topic: str) -> None:
    """Well, badly, or as the work decides; nothing is deleted (S0-12)."""
    ends: dict[str, Callable[..., object]] = {
        "well": lambda *_: Transition.finish("done"),
        "badly": lambda *_: Transition.fail("no such document"),
        "because": lambda *_: Transition.fail(ValueError("of this")),
        "otherwise": lambda *_: TaskDecision.filter("not needed"),
    }
    tasks = push(backend, repository, topic, *ends)
    machine = StateMachine("only").on("only", lambda task, _: ends[task.identifier]())
    run_through(backend, repository, machine.bind(repository, backend.begin))
    found = [info(backend, repository, topic, task) for task in tasks]
    assert [(each.state, (each.output or "").splitlines()[-1]) for each in found] == [
        (TaskState.SUCCEEDED, "done"),
        (TaskState.FAILED, "no such document"),
        (TaskState.FAILED, "ValueError: of this"),
        (TaskState.FILTERED, "not needed"),
    ]

"""State machines: from state to state, waiting, ending and failing."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from task_api import (
    Claim,
    InvalidTaskError,
    Revivification,
    Task,
    TaskDecision,
    TaskRepository,
    TaskResult,
    TaskResultError,
    TaskState,
)
from task_processor import RenewingExecutor, RetryPolicy, ShutdownError, TaskManager, UnavailableError
from task_processor.machine.machine import StateMachine
from task_processor.machine.state import MachineState, checked_state, written
from task_processor.machine.transition import Transition
from tests.backends.steps import info, push, states
from tests.processor.support import PATIENCE, Gate, Recorder, Shaky, running, working
from tests.siblings.machines import come_back, machine_threads, run_through, state_of, stored

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
LATER = timedelta(hours=1)


def finish(_: Task, data: object) -> Transition:
    """End with what was given."""
    return Transition.finish(json.dumps(data))


async def finish_soon(_: Task, data: object) -> Transition:
    """End with what was given, asynchronously."""
    await asyncio.sleep(0)
    return Transition.finish(json.dumps(data))


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

        with running(backend, repository, machine(slow).bind(repository, backend.begin, interval=LATER)):
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
                return Transition.stay(None, LATER)
            case "to":
                return Transition.to("other")
            case _:
                return _fail()

    machine = StateMachine("first").on("first", play).on("other", play)
    factory = machine.bind(repository, backend.begin, retry=RetryPolicy(3, LATER))
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
    run_through(backend, repository, old.bind(repository, backend.begin, postpone=LATER), size=1)
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
        ("not JSON", "must be JSON"),
        ('{"a": ', "must be JSON"),
        ("[NaN]", "NaN is not JSON"),
        ("[" * 100_000, "must be JSON"),
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


@pytest.mark.parametrize("data", [{1, 2}, object(), float("nan"), {(1, 2): 3}, datetime(2026, 1, 1, tzinfo=UTC)])
def test_data_that_is_not_json_is_refused(data: object) -> None:
    """Where it is given, so that the trace tells who did it (S0-01)."""
    with pytest.raises(InvalidTaskError, match="the data of a state must be JSON"):
        Transition.to("state", data)
    with pytest.raises(InvalidTaskError, match="the data of a state must be JSON"):
        Transition.stay(data)
    ring: list[object] = []
    ring.append(ring)
    with pytest.raises(InvalidTaskError, match="the data of a state must be JSON"):
        Transition.to("state", ring)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(state=st.text(min_size=1).map(lambda text: f"state {text}"[:250]), data=JSON, failures=st.integers(0, 9))
def test_what_is_stored_is_what_is_read(state: str, data: object, failures: int) -> None:
    """Any state and any data, told from every first input (S0-01)."""
    try:
        state = checked_state(state)
    except InvalidTaskError:
        reject()
    stood = MachineState(state, written(data), failures)
    assert MachineState.read(stood.text, "initial") == stood
    assert stood.value == data
    assert stood.text.isascii()
    first = MachineState.read(json.dumps([data]), "initial")
    assert (first.state, first.value, first.failures) == ("initial", [data], 0)


MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "state twice": (lambda: StateMachine("a").on("a", finish).on("a", finish), "there is a state 'a' already"),
    "blank initial state": (lambda: StateMachine(" "), "state must not be empty"),
    "initial state no text": (lambda: StateMachine(None), "state must be a str"),  # type: ignore[arg-type]
    "blank state": (lambda: StateMachine("a").on("", finish), "state must not be empty"),
    "long state": (lambda: StateMachine("a").on("x" * 251, finish), "state of 251 characters is too long"),
    "no function": (lambda: StateMachine("a").on("a", "finish"), "must be a function"),  # type: ignore[arg-type]
    "function of one": (lambda: StateMachine("a").on("a", lambda _: None), "must take .task, data."),
    "no lease": (lambda: StateMachine("a").on("a", finish, timedelta()), "lease must be a timedelta longer"),
    "blank target": (lambda: Transition.to("\n"), "state must not be empty"),
    "naive moment": (lambda: Transition.stay(1, datetime(2026, 1, 1)), "aware"),  # noqa: DTZ001 - the mistake
    "message no text": (lambda: Transition.finish(1), "message must be a str"),  # type: ignore[arg-type]
    "no initial state": (lambda: StateMachine("a").on("b", finish).bind(None, None), "initial state 'a' has no"),  # type: ignore[arg-type]
    "no concurrency": (lambda: _bind(concurrency=0), "concurrency must be at least 1, not 0"),
    "no interval": (lambda: _bind(interval=timedelta()), "interval must be a timedelta longer than zero"),
    "no postponement": (lambda: _bind(postpone=timedelta()), "postpone must be a timedelta longer than zero"),
}


def _bind(**options: Any) -> object:
    return StateMachine("a").on("a", finish).bind(None, None, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found_at_once(mistake: str) -> None:
    """Each is told in a sentence that says what to do (DESIGN 3)."""
    make, problem = MISTAKES[mistake]
    with pytest.raises(InvalidTaskError, match=problem):
        make()


def test_a_machine_is_immutable() -> None:
    """Adding a state gives another machine (DESIGN 7)."""
    first = StateMachine("a")
    second = first.on("a", finish)
    third, other = second.on("b", finish), second.on("c", max)  # which does not say what it takes
    assert [each.states for each in (first, second, third, other)] == [(), ("a",), ("a", "b"), ("a", "c")]
    assert {each.initial for each in (first, second, third, other)} == {"a"}


def test_asynchronous_work_runs_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """Each task waits for the others here, in both states, so that none could end alone (S0-18)."""
    number = 5
    push(backend, repository, topic, *map(str, range(number)))
    arrived: dict[str, list[asyncio.Future[None]]] = {"first": [], "second": []}

    async def meet(state: str) -> None:
        mine = asyncio.get_running_loop().create_future()
        arrived[state].append(mine)
        if len(arrived[state]) == number:
            for each in arrived[state]:
                each.set_result(None)
        await asyncio.wait_for(mine, PATIENCE)

    async def first(*_: object) -> Transition:
        await meet("first")
        return Transition.to("second")

    async def second(*_: object) -> Transition:
        await meet("second")
        return Transition.finish()

    machine = StateMachine("first").on("first", first).on("second", second)
    run_through(backend, repository, machine.bind(repository, backend.begin))
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}


def test_only_so_many_tasks_are_worked_on_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """The others are left to be polled by somebody else (S0-18)."""
    number, limit = 6, 2
    push(backend, repository, topic, *map(str, range(number)))
    entered, leave = threading.Semaphore(0), threading.Semaphore(0)
    active: list[int] = []

    async def wait(*_: object) -> Transition:
        entered.release()
        await asyncio.to_thread(leave.acquire, timeout=PATIENCE)
        return Transition.finish()

    recorder = Recorder()
    factory = StateMachine("first").on("first", wait).bind(repository, backend.begin, concurrency=limit)
    with running(backend, repository, factory, listener=recorder):
        for begun in range(number):
            assert entered.acquire(timeout=PATIENCE)
            if begun >= limit - 1:
                active.append([*states(backend, repository, topic).values()].count(TaskState.ACTIVE))
                leave.release()
        leave.release(limit)
        recorder.wait("complete", number)
    assert max(active) == limit


def test_plain_work_takes_turns(backend: Backend, repository: Repository, topic: str) -> None:
    """One function runs at a time, in the order of the tasks (S0-18)."""
    push(backend, repository, topic, *"abcd")
    lock, order = threading.Lock(), list[str]()

    def work(task: Task, _: object) -> Transition:
        assert lock.acquire(blocking=False)
        order.append(task.identifier)
        lock.release()
        return Transition.finish()

    run_through(backend, repository, StateMachine("first").on("first", work).bind(repository, backend.begin))
    assert order == [*"abcd"]


def compute(task: Task, data: object) -> Transition:
    """Work that processes can be given."""
    match task.identifier:
        case "fail":
            return Transition.fail(AwkwardError("reason"))
        case "raise":
            raise AwkwardError("reason")  # noqa: EM101 - the argument that does not come back
        case "filter":
            raise TaskResultError(TaskResult.FILTER, "not needed")
    return Transition.to("second", [data])


class AwkwardError(Exception):
    """Can be sent to another process, but not be read there."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, 1)


def processes(number: int) -> Executor:
    """Processes that are not forked from one with threads."""
    return ProcessPoolExecutor(number, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, processes])
def test_plain_work_runs_on_the_managers_executor(
    backend: Backend, repository: Repository, topic: str, kind: Callable[[int], Executor]
) -> None:
    """Threads or processes, whatever comes of it (DESIGN 5)."""
    tasks = push(backend, repository, topic, "well", "fail", "raise", "filter", input="1")
    machine = StateMachine("first").on("first", compute).on("second", finish)
    recorder = Recorder()
    with (
        kind(2) as executor,
        running(backend, repository, machine.bind(repository, backend.begin), executor=executor, listener=recorder),
    ):
        recorder.wait("complete", 4)
    found = [info(backend, repository, topic, task) for task in tasks]
    assert [each.state for each in found] == [
        TaskState.SUCCEEDED,
        TaskState.FAILED,
        TaskState.FAILED,
        TaskState.FILTERED,
    ]
    assert [each.output for each in found][::3] == ["[1]", "not needed"]
    assert all("AwkwardError" in (each.output or "") for each in found[1:3])


def test_an_executor_that_takes_nothing_costs_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """The tasks wait as they are (DESIGN 5)."""
    [task] = push(backend, repository, topic, "a", input="1")
    closed = RenewingExecutor(lambda: ThreadPoolExecutor(1))
    closed.shutdown()
    machine = StateMachine("first").on("first", compute)
    run_through(backend, repository, machine.bind(repository, backend.begin), executor=closed)
    found = info(backend, repository, topic, task)
    assert (found.state, found.input) == (TaskState.SUSPENDED, "1")
    assert "takes no more work" in (found.output or "")


def test_a_plain_function_may_give_an_awaitable(backend: Backend, repository: Repository, topic: str) -> None:
    """As functions that were wrapped do (DESIGN 5)."""
    [task] = push(backend, repository, topic, "a", input="1")
    machine = StateMachine("first").on("first", lambda task, data: finish_soon(task, data))  # noqa: PLW0108 - a wrapper
    run_through(backend, repository, machine.bind(repository, backend.begin))
    assert info(backend, repository, topic, task).output == "1"


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


def test_a_claim_of_a_transaction_is_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """States are stored in transactions of their own; the tasks stay READY, and somebody hears of it (DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    recorder = Recorder()
    factory = StateMachine("first").on("first", finish).bind(repository, backend.begin)
    with running(backend, repository, factory, listener=recorder, claim=Claim.TRANSACTION):
        [error, *_] = recorder.wait("fatal")
    assert isinstance(error, UnavailableError)
    assert "Claim.COMMITTED" in str(error)
    found = info(backend, repository, topic, task)
    assert (found.state, found.attempt) == (TaskState.READY, 0)


def test_a_state_that_could_not_be_stored_at_once_is_stored_with_the_decision(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """A database that is away for a moment costs no work that was done (P1)."""
    [task] = push(backend, repository, topic, "a")
    shaky, firsts = Shaky(backend), list[int]()

    def first(*_: object) -> Transition:
        firsts.append(1)
        return Transition.to("second", "kept")

    machine = StateMachine("first").on("first", first).on("second", finish)
    shaky.down.set()
    run_through(backend, repository, machine.bind(repository, shaky.begin))
    found = info(backend, repository, topic, task)
    assert (found.state, state_of(found)) == (TaskState.SUSPENDED, ("second", "kept"))

    shaky.down.clear()
    with backend.begin() as tx:
        assert repository.promote(tx, topic) == 1
    run_through(backend, repository, machine.bind(repository, shaky.begin))
    assert firsts == [1]
    assert info(backend, repository, topic, task).output == '"kept"'


def test_a_handler_that_was_closed_takes_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """It says so, and can be closed again (TM-25)."""
    handler = StateMachine("first").on("first", finish).bind(repository, backend.begin)(topic)
    handler.close()
    for _ in range(2):
        with pytest.raises(ShutdownError):
            handler([Task(1, "a")], lambda _: True, lambda _: True)
        handler.close()


def test_work_may_stop_its_own_manager(backend: Backend, repository: Repository, topic: str) -> None:
    """It belongs to the loop, which does not wait for itself (TM-03)."""
    [task] = push(backend, repository, topic, "a")
    stopped: list[bool] = []
    managers: list[TaskManager[Any]] = []

    def work(*_: object) -> Transition:
        stopped.append(managers[0].stop())
        return Transition.finish()

    recorder = Recorder()
    factory = StateMachine("first").on("first", work).bind(repository, backend.begin)
    managers.append(TaskManager(topic, repository, backend.begin, factory, listener=recorder))
    assert managers[0].start() is True
    recorder.wait("complete")
    assert stopped == [True]
    managers[0].stop()
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED

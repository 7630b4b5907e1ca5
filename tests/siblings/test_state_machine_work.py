"""How the work of state machines is run: at once or in turns, on which executor, under which claim, and until when."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Task, TaskRepository, TaskResult, TaskResultError, TaskState
from task_processor import RenewingExecutor, ShutdownError, TaskManager, UnavailableError
from task_processor.machine.machine import StateMachine
from task_processor.machine.transition import Transition
from tests.backends.steps import info, push, states
from tests.processor.support import PATIENCE, Recorder, Shaky, running
from tests.siblings.machines import finish, run_through, state_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]


async def finish_soon(_: Task, data: object) -> Transition:
    """End with what was given, asynchronously."""
    await asyncio.sleep(0)
    return Transition.finish(json.dumps(data))


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

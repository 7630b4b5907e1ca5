"""Work on executors: threads, processes, and what happens when they give up."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Task, TaskDecision, TaskRepository, TaskResult, TaskResultError, TaskState
from task_processor import (
    BufferingTaskHandlerFactory,
    CompositeTaskHandlerFactory,
    Mode,
    RenewingExecutor,
    RetryPolicy,
    TaskSupplement,
    batch,
    each,
)
from tests.backends.steps import push
from tests.processor.support import PATIENCE, Gate, Recorder, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from task_processor import StepFunction, TaskHandlerFactory
    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
claims = pytest.mark.parametrize("claim", Claim)

FORMS: dict[str, Callable[[StepFunction, StepFunction], TaskHandlerFactory]] = {
    "each": lambda one, _: each(one),
    "batch": lambda _, many: batch(many),
    "buffering": lambda one, _: BufferingTaskHandlerFactory(each(one), buffer=1, workers=2),
    "steps": lambda one, _: steps().each("step", one),
    "steps-in-turn": lambda one, _: steps().each("step", one, mode=Mode.SEQUENTIAL),
    "batch-steps": lambda _, many: steps().batch("step", many),
}
"""A handler from a function of one task and a function of a batch that does the same."""
STARTING = 90.0
"""How many seconds work may take that has to wait for processes to start."""
ONE_BY_ONE = {"each", "buffering", "steps"}
"""The forms that give each task to the executor by itself."""
forms = pytest.mark.parametrize("form", FORMS)


def steps() -> CompositeTaskHandlerFactory:
    """A factory whose handlers finish each batch before the next one."""
    return CompositeTaskHandlerFactory(concurrency=0)


class AwkwardError(Exception):
    """An error that can be pickled, but not read again."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


class Busy(Recorder):
    """Remembers, and tells when there is nothing left to do."""

    def __init__(self) -> None:
        super().__init__()
        self.idle = threading.Event()

    def on_empty(self, topic: str) -> None:
        """Remember."""
        super().on_empty(topic)
        self.idle.set()


class Counting(Executor):
    """Passes calls on, and lets a test wait for them."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._submitted = threading.Semaphore(0)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Pass a call on."""
        future = self._executor.submit(function, *arguments, **options)
        self._submitted.release()
        return future

    def wait(self, number: int) -> None:
        """Wait until so many calls were passed on."""
        for _ in range(number):
            assert self._submitted.acquire(timeout=PATIENCE), "nothing was submitted"


def work(task: Task) -> str:
    """Say which process did it, or raise what the task's name asks for."""
    if task.identifier == "bad":
        raise ValueError(task.identifier)
    if task.identifier == "skip":
        raise TaskResultError(TaskResult.FILTER, "not today")
    return f"process {os.getpid()}"


def work_on_all(tasks: Sequence[Task]) -> dict[Task, TaskDecision]:
    """Decide as `work` does."""
    decisions = {}
    for task in tasks:
        try:
            decisions[task] = TaskDecision.success(work(task))
        except (TaskResultError, ValueError) as error:
            decisions[task] = TaskDecision.of(error)
    return decisions


def die(task: Task) -> str:
    """End the process if the task's name asks for it."""
    if task.identifier == "deadly":
        os._exit(1)
    return work(task)


def die_once(task: Task) -> str:
    """End the process at the first attempt if the task's name asks for it."""
    if (task.identifier, task.attempt) == ("fatal once", 1):
        os._exit(1)
    return work(task)


def die_on_all(tasks: Sequence[Task]) -> dict[Task, TaskDecision]:
    """Do as `die` does."""
    return {task: TaskDecision.success(die(task)) for task in tasks}


def be_awkward(task: Task) -> str:
    """Raise what can't be sent back if the task's name asks for it."""
    if task.identifier == "awkward":
        raise AwkwardError(task.identifier, "rude")
    return work(task)


def take_supplement(task: Task, _: TaskSupplement) -> str:
    """Want the supplement."""
    return work(task)


def processes(number: int = 1) -> ProcessPoolExecutor:
    """Processes that are not forked from one with threads."""
    return ProcessPoolExecutor(number, mp_context=multiprocessing.get_context("spawn"))


def found(backend: Backend, repository: Repository, topic: str) -> dict[str, tuple[TaskState, str]]:
    """The state and output of every task by its identifier."""
    with backend.begin() as tx:
        return {item.identifier: (item.state, item.output or "") for item in repository.page(tx, topic, size=1000)}


def finish(backend: Backend, repository: Repository, factory: TaskHandlerFactory, **options: Any) -> Recorder:
    """Work on all that there is."""
    recorder = Busy()
    with running(backend, repository, factory, listener=recorder, **options) as manager:
        assert recorder.idle.wait(STARTING), recorder.names()
        assert manager.active is True
    return recorder


def check(outcome: dict[str, tuple[TaskState, str]], *, elsewhere: bool) -> None:
    """Insist that `work` was done, and in which process."""
    assert {name: state for name, (state, _) in outcome.items()} == {
        "good": TaskState.SUCCEEDED,
        "bad": TaskState.FAILED,
        "skip": TaskState.FILTERED,
        "fine": TaskState.SUCCEEDED,
    }
    assert "ValueError: bad" in outcome["bad"][1]
    assert outcome["skip"][1] == "not today"
    for name in ("good", "fine"):
        label, _, process = outcome[name][1].partition(" ")
        assert label == "process"
        assert (int(process) != os.getpid()) is elsewhere


@pytest.fixture(scope="module")
def pools() -> Iterator[dict[str, Executor]]:
    """An executor of each kind, started when it is first used."""
    with ThreadPoolExecutor(2) as threads, processes(2) as others:
        yield {"threads": threads, "processes": others}


@forms
@claims
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_all_forms_of_work_run_there(
    backend: Backend,
    repository: Repository,
    topic: str,
    *,
    pools: dict[str, Executor],
    kind: str,
    form: str,
    claim: Claim,
) -> None:
    """Decisions, texts and errors come back from wherever the work is done (DESIGN 5, CS-05)."""
    push(backend, repository, topic, "good", "bad", "skip", "fine")
    finish(backend, repository, FORMS[form](work, work_on_all), executor=pools[kind], claim=claim)
    check(found(backend, repository, topic), elsewhere=kind == "processes")


@pytest.mark.backends("sqlite")
@pytest.mark.parametrize("form", sorted(FORMS.keys() - {"buffering"}))  # which has several batches under way
@claims
def test_a_pool_that_breaks_fails_the_batch_under_way(
    backend: Backend, repository: Repository, topic: str, form: str, claim: Claim
) -> None:
    """Later ones, which it can't begin, are given back; the loop goes on (TM-19, P1)."""
    push(backend, repository, topic, "deadly", "with it", "after it", "last")
    recorder = Recorder()
    with (
        processes() as pool,
        running(
            backend,
            repository,
            FORMS[form](die, die_on_all),
            executor=pool,
            listener=recorder,
            claim=claim,
            size=2,
        ) as manager,
    ):
        recorder.wait("fatal")
        assert manager.active is True
    outcome = found(backend, repository, topic)
    for name in ("deadly", "with it"):
        assert (outcome[name][0], "process pool" in outcome[name][1]) == (TaskState.FAILED, True)
    assert [outcome[name][0] for name in ("after it", "last")] == [TaskState.READY] * 2


@forms
@claims
def test_what_a_pool_can_not_begin_is_done_by_another(
    backend: Backend, repository: Repository, topic: str, form: str, claim: Claim
) -> None:
    """An executor that was shut down takes nothing and so fails nothing; no attempt is counted (TM-20, P1)."""
    push(backend, repository, topic, "one", "two")
    recorder = Recorder()
    factory = FORMS[form](work, work_on_all)
    with ThreadPoolExecutor(1) as pool:
        pass
    with running(backend, repository, factory, executor=pool, listener=recorder, claim=claim):
        recorder.wait("fatal")
    with backend.begin() as tx:
        assert [(item.state, item.attempt) for item in repository.page(tx, topic)] == [(TaskState.READY, 0)] * 2
    with ThreadPoolExecutor(1) as pool:
        finish(backend, repository, factory, executor=pool, claim=claim)
    with backend.begin() as tx:
        assert [(item.state, item.attempt) for item in repository.page(tx, topic)] == [(TaskState.SUCCEEDED, 1)] * 2


@pytest.mark.backends("sqlite")
@pytest.mark.parametrize("form", ["each", "steps"])
def test_a_pool_that_is_renewed_goes_on(backend: Backend, repository: Repository, topic: str, form: str) -> None:
    """The batch under way comes back with a retry policy, and a new pool does it and the rest (TM-19, P1)."""
    push(backend, repository, topic, "fatal once", "with it", "after it")
    recorder = Recorder()
    with RenewingExecutor(processes) as pool:
        options: dict[str, Any] = {"executor": pool, "listener": recorder, "retry": RetryPolicy(3, timedelta())}
        with running(backend, repository, FORMS[form](die_once, work_on_all), size=2, **options) as manager:
            recorder.wait("empty")
            with backend.begin() as tx:
                assert repository.promote(tx, topic) == 2
            manager.resume()
            recorder.wait("empty", 2)
    with backend.begin() as tx:
        assert {item.identifier: (item.state, item.attempt) for item in repository.page(tx, topic)} == {
            "fatal once": (TaskState.SUCCEEDED, 2),
            "with it": (TaskState.SUCCEEDED, 2),
            "after it": (TaskState.SUCCEEDED, 1),
        }


@forms
@claims
def test_cancelled_work_fails(backend: Backend, repository: Repository, topic: str, form: str, claim: Claim) -> None:
    """What was cancelled before it began was not done, so it does not succeed (TM-19, P1)."""
    push(backend, repository, topic, "one", "two")
    recorder = Recorder()
    with Gate() as gate, ThreadPoolExecutor(1) as pool:
        pool.submit(gate.pass_through)
        gate.wait()
        executor = Counting(pool)
        with running(
            backend,
            repository,
            FORMS[form](work, work_on_all),
            executor=executor,
            listener=recorder,
            claim=claim,
        ):
            executor.wait(2 if form in ONE_BY_ONE else 1)
            pool.shutdown(wait=False, cancel_futures=True)
            gate.open()
            recorder.wait("dispatched")
    for state, output in found(backend, repository, topic).values():
        assert (state, "CancelledError" in output) == (TaskState.FAILED, True)


@pytest.mark.parametrize("form", ["each", "batch", "steps", "batch-steps"])
def test_a_cancelled_coroutine_fails_its_task(backend: Backend, repository: Repository, topic: str, form: str) -> None:
    """A cancellation that comes out of the work is no success (TM-19, CS-05)."""
    push(backend, repository, topic, "one")

    async def cancel(_: object) -> None:
        raise asyncio.CancelledError

    finish(backend, repository, FORMS[form](cancel, cancel))
    [(state, output)] = found(backend, repository, topic).values()
    assert (state, "CancelledError" in output) == (TaskState.FAILED, True)


@pytest.mark.backends("sqlite")
@pytest.mark.parametrize("form", ["each", "steps", "steps-in-turn"])
def test_an_error_that_can_not_travel_fails_its_task_alone(
    backend: Backend, repository: Repository, topic: str, form: str
) -> None:
    """It breaks no pool, and what it said is told (TM-27)."""
    push(backend, repository, topic, "awkward", "with it", "after it")
    with processes() as pool:
        finish(backend, repository, FORMS[form](be_awkward, work_on_all), executor=pool, size=2)
    outcome = found(backend, repository, topic)
    assert outcome["awkward"][0] == TaskState.FAILED
    assert "AwkwardError" in outcome["awkward"][1]
    assert "awkward and rude" in outcome["awkward"][1]
    assert {outcome[name][0] for name in ("with it", "after it")} == {TaskState.SUCCEEDED}


@pytest.mark.parametrize("form", ["each", "batch", "steps", "steps-in-turn", "batch-steps"])
def test_a_function_that_can_not_travel_fails_its_tasks(
    backend: Backend, repository: Repository, topic: str, pools: dict[str, Executor], form: str
) -> None:
    """The error says so, and the pool stays usable (TM-19)."""
    push(backend, repository, topic, "one", "two")
    finish(backend, repository, FORMS[form](lambda _: None, lambda _: None), executor=pools["processes"])
    for state, output in found(backend, repository, topic).values():
        assert (state, "ickle" in output) == (TaskState.FAILED, True)
    push(backend, repository, topic, "three")
    finish(backend, repository, each(work), executor=pools["processes"])
    assert found(backend, repository, topic)["three"][0] == TaskState.SUCCEEDED


def test_a_supplement_stays_in_its_process(
    backend: Backend, repository: Repository, topic: str, pools: dict[str, Executor]
) -> None:
    """A step that wants it elsewhere fails, and says what to do (CS-05)."""
    push(backend, repository, topic, "one")
    finish(backend, repository, steps().each("step", take_supplement), executor=pools["processes"])
    [(state, output)] = found(backend, repository, topic).values()
    assert (state, "supplement" in output.splitlines()[-1]) == (TaskState.FAILED, True)

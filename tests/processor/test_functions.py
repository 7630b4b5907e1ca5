"""Plain functions as handlers."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Task, TaskDecision, TaskRepository, TaskResult, TaskResultError, TaskState
from task_processor import BufferingTaskHandlerFactory, CompositeTaskHandlerFactory, batch, each
from tests.backends.steps import info, push, states
from tests.processor.support import Recorder, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from task_processor import TaskHandlerFactory
    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]


def process(backend: Backend, repository: Repository, factory: TaskHandlerFactory, **options: Any) -> Recorder:
    """Work on all that there is."""
    recorder = Recorder()
    with running(backend, repository, factory, listener=recorder, **options):
        recorder.wait("empty")
    return recorder


def choose(task: Task) -> TaskDecision | None:
    """Decide by name."""
    if task.identifier == "bad":
        raise ValueError(task.identifier)
    return TaskDecision.filter("no") if task.identifier == "skip" else None


async def choose_asynchronously(task: Task) -> TaskDecision | None:
    """Decide by name."""
    return choose(task)


@pytest.mark.parametrize("function", [choose, choose_asynchronously])
@pytest.mark.parametrize("claim", Claim)
def test_a_task_that_raises_fails_alone(
    backend: Backend, repository: Repository, topic: str, function: Callable[[Task], Any], claim: Claim
) -> None:
    """Each task gets what its own call returned or raised (TM-27, DESIGN 5)."""
    bad, good, skip = push(backend, repository, topic, "bad", "good", "skip")
    process(backend, repository, each(function), claim=claim)

    assert [info(backend, repository, topic, task).state for task in (bad, good, skip)] == [
        TaskState.FAILED,
        TaskState.SUCCEEDED,
        TaskState.FILTERED,
    ]
    output = info(backend, repository, topic, bad).output or ""
    assert "ValueError: bad" in output
    assert info(backend, repository, topic, skip).output == "no"


@pytest.fixture(scope="module", params=["threads", "processes"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """Threads, and processes that are not forked from one with threads."""
    if request.param == "threads":
        pool: Executor = ThreadPoolExecutor(2)
    else:
        pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    with pool:
        yield pool


@pytest.mark.parametrize(
    "factory",
    [
        each(choose),
        BufferingTaskHandlerFactory(each(choose), buffer=1, workers=2),
        CompositeTaskHandlerFactory(concurrency=0).each("choose", choose),
    ],
    ids=["each", "buffering", "composite"],
)
def test_work_runs_on_any_executor(
    backend: Backend,
    repository: Repository,
    topic: str,
    executor: Executor,
    factory: TaskHandlerFactory,
) -> None:
    """Threads and other processes do the work, and errors come back from there (DESIGN 5)."""
    bad, good = push(backend, repository, topic, "bad", "good")
    process(backend, repository, factory, executor=executor)

    assert states(backend, repository, topic) == {bad.sequence: TaskState.FAILED, good.sequence: TaskState.SUCCEEDED}


def test_asynchronous_work_shares_one_event_loop(backend: Backend, repository: Repository, topic: str) -> None:
    """Connections that belong to a loop can be used by every batch (DESIGN 5)."""
    push(backend, repository, topic, "a", "b", "c")
    threads = set()

    async def note(_: Task) -> None:
        threads.add(threading.current_thread().name)

    process(backend, repository, each(note), size=1)
    assert threads == {"task-event-loop-topic"}


@pytest.mark.parametrize("claim", Claim)
def test_effects_of_a_task_that_raises_are_undone_alone(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Work that takes the transaction commits with its decision, and a failed task leaves no trace (TM-16)."""
    bad, good = push(backend, repository, topic, "bad", "good")
    with backend.begin() as tx:
        repository.initialize(tx, "effects")

    def work(task: Task, tx: Transaction) -> None:
        repository.push(tx, "effects", f"effect of {task.identifier}")
        choose(task)

    process(backend, repository, each(work), claim=claim)

    assert states(backend, repository, topic) == {bad.sequence: TaskState.FAILED, good.sequence: TaskState.SUCCEEDED}
    with backend.begin() as tx:
        assert [effect.identifier for effect in repository.page(tx, "effects")] == ["effect of good"]


@pytest.mark.parametrize("claim", Claim)
def test_a_batch_is_decided_by_one_call(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """A function of the batch decides each task; nothing means success for all (TM-18)."""
    first, second = push(backend, repository, topic, "a", "b")

    def decide(tasks: Sequence[Task]) -> dict[Task, TaskDecision]:
        return {tasks[0]: TaskDecision.SUSPENSION, tasks[1]: TaskDecision.SUCCESS}

    process(backend, repository, batch(decide), claim=claim)
    third, *_ = push(backend, repository, topic, "c")

    async def accept(tasks: Sequence[Task]) -> None:
        assert [task.identifier for task in tasks] == ["c"]

    process(backend, repository, batch(accept), claim=claim)
    assert states(backend, repository, topic) == {
        first.sequence: TaskState.SUSPENDED,
        second.sequence: TaskState.SUCCEEDED,
        third.sequence: TaskState.SUCCEEDED,
    }


@pytest.mark.parametrize("claim", Claim)
@pytest.mark.parametrize("within", [False, True], ids=["before", "within"])
def test_a_batch_that_raises_fails_whole(
    backend: Backend,
    repository: Repository,
    topic: str,
    claim: Claim,
    within: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """An error fails all, its effects undone; an error that carries a result gives that (TM-19, CS-12)."""
    push(backend, repository, topic, "a", "b")

    def work(_: Sequence[Task]) -> None:
        raise ValueError

    def work_within(_: Sequence[Task], tx: Transaction) -> None:
        repository.push(tx, topic, "effect")
        raise ValueError

    recorder = process(backend, repository, batch(work_within if within else work), claim=claim)
    assert list(states(backend, repository, topic).values()) == [TaskState.FAILED] * 2
    assert recorder.names() == ["start", *(["callback"] if within else []), "error", "dispatched"]

    push(backend, repository, topic, "c")

    def skip(_: Sequence[Task]) -> None:
        raise TaskResultError(TaskResult.FILTER, "not today")

    process(backend, repository, batch(skip), claim=claim)
    assert list(states(backend, repository, topic).values())[-1] == TaskState.FILTERED


def test_what_is_no_decision_fails_its_task(backend: Backend, repository: Repository, topic: str) -> None:
    """A value that decides nothing is the work's mistake, not the loop's (TM-18)."""
    [task] = push(backend, repository, topic, "a")
    process(backend, repository, each(lambda _: 42))

    assert info(backend, repository, topic, task).state == TaskState.FAILED
    assert "an outcome must be" in (info(backend, repository, topic, task).output or "")

"""Waiting for the decision on a task (S1-18 of BEHAVIOURS.md)."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from task_api import (
    Insertion,
    Revivification,
    TaskDecision,
    TaskInfo,
    TaskRef,
    TaskState,
    TaskStateError,
    chain,
)
from tests.backends import Backend
from tests.backends.steps import complete, info, poll, push
from tests.conformance.scenes import TIMEOUT, Repository, one_of_each, run
from tests.conformance.waiters import decide, ref

DECIDED = (TaskState.FAILED, TaskState.FILTERED, TaskState.SUCCEEDED)
NO_TIME = timedelta(0)
LONG = timedelta(seconds=2 * TIMEOUT)
"""Longer than any test waits for the end of a wait."""
few = pytest.mark.kinds("connection", "driver")


class Desk:
    """Opens transactions for a waiter, and knows how many have ended."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._ended = 0
        self._changed = threading.Condition()

    @contextmanager
    def begin(self) -> Iterator[Any]:
        """A transaction."""
        with self._backend.begin() as tx:
            yield tx
        with self._changed:
            self._ended += 1
            self._changed.notify_all()

    def seen(self, number: int) -> None:
        """Return when so many transactions have ended."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._ended >= number, TIMEOUT), "the waiter does not look"


@contextmanager
def waiting(
    repository: Repository, desk: Desk, *refs: TaskRef, timeout: timedelta | None = LONG
) -> Iterator[list["Future[TaskInfo]"]]:
    """Wait for tasks, each in a thread of its own."""
    with ThreadPoolExecutor(len(refs)) as pool:
        yield [pool.submit(repository.wait, desk.begin, each, timeout) for each in refs]


@pytest.fixture
def no_thread_stays() -> Iterator[None]:
    """Insist that a wait leaves no thread behind."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


@pytest.mark.usefixtures("no_thread_stays")
@pytest.mark.parametrize("state", [*DECIDED, TaskState.REDUNDANT], ids=lambda state: state.name)
def test_a_decided_task_is_returned_at_once(
    backend: Backend, repository: Repository, topic: str, state: TaskState
) -> None:
    """With its state and output, also without any time to wait (S1-18)."""
    task = one_of_each(backend, repository, topic, [state])[state]
    found = repository.wait(backend.begin, ref(task), NO_TIME)
    assert (found, found.state, found.topic) == (task, state, topic)
    assert repository.wait(backend.begin, found) == task


@few
@pytest.mark.parametrize(
    "state",
    [TaskState.ACTIVE, TaskState.READY, TaskState.EXPIRED, TaskState.SUSPENDED],
    ids=lambda state: state.name,
)
@pytest.mark.usefixtures("no_thread_stays")
def test_an_undecided_task_is_not_returned(
    backend: Backend, repository: Repository, topic: str, state: TaskState
) -> None:
    """The time goes by, and the error says what was waited for (S1-18, S1-B4)."""
    task = one_of_each(backend, repository, topic, [state])[state]
    for timeout in (NO_TIME, timedelta(milliseconds=300)):
        with pytest.raises(TimeoutError, match=f"task {task.sequence} of topic 'topic' was not decided"):
            repository.wait(backend.begin, ref(task), timeout)
    assert info(backend, repository, topic, task).state is state


@few
@pytest.mark.usefixtures("no_thread_stays")
@pytest.mark.parametrize("decision", [TaskDecision.success("well"), TaskDecision.failure("badly")])
def test_a_wait_ends_with_the_decision(
    backend: Backend, repository: Repository, topic: str, decision: TaskDecision
) -> None:
    """It is started before the decision, by several at once (S1-10, S1-18)."""
    [task] = push(backend, repository, topic, "task")
    desk = Desk(backend)
    with waiting(repository, desk, *[ref(task)] * 3) as waits:
        desk.seen(6)
        decide(backend, repository, topic, task, decision=decision)
        found = [wait.result(TIMEOUT) for wait in waits]
    assert [(each, each.state, each.output) for each in found] == [(task, decision.state, decision.output)] * 3
    assert repository.wait(backend.begin, ref(task), NO_TIME).output == decision.output


@few
@pytest.mark.usefixtures("no_thread_stays")
def test_what_is_no_decision_does_not_end_a_wait(backend: Backend, repository: Repository, topic: str) -> None:
    """Other news of the topic, polls, retries and suspensions are none (S1-18, S1-B4)."""
    [task] = push(backend, repository, topic, "task")
    desk = Desk(backend)
    with waiting(repository, desk, ref(task)) as [wait]:
        desk.seen(2)
        push(backend, repository, topic, "other")
        decide(backend, repository, topic, task, decision=TaskDecision.retry(NO_TIME, "once more"))
        run(backend, repository.promote, topic)
        tasks = poll(backend, repository, topic, 2)
        desk.seen(4)
        assert not wait.done()
        complete(backend, repository, topic, tasks)
        assert wait.result(TIMEOUT).state is TaskState.SUCCEEDED


@few
@pytest.mark.usefixtures("no_thread_stays")
def test_who_fails_for_another_is_decided(backend: Backend, repository: Repository, topic: str) -> None:
    """The waiters of all who fail with it are told (S1-10, S1-15)."""
    tasks = run(backend, repository.push_graph, topic, chain(*"abc"))
    desk = Desk(backend)
    with waiting(repository, desk, *map(ref, tasks)) as waits:
        desk.seen(6)
        decide(backend, repository, topic, tasks[0], decision=TaskDecision.failure("out of ink"))
        found = [wait.result(TIMEOUT) for wait in waits]
    assert [each.state for each in found] == [TaskState.FAILED] * 3
    assert all("out of ink" in str(each.output) for each in found)


@few
def test_a_recreated_task_is_waited_for_in_its_copy(backend: Backend, repository: Repository, topic: str) -> None:
    """And in the copy of that; a wait that has begun goes on with the copy (S1-18)."""
    [task] = push(backend, repository, topic, "task")
    decide(backend, repository, topic, task, decision=TaskDecision.FAILURE)
    copy = run(backend, repository.recreate, topic, Revivification.APPEND, [task])[task]
    push(backend, repository, topic, *["task"] * 60)
    desk = Desk(backend)
    with waiting(repository, desk, ref(task)) as [wait]:
        desk.seen(2)
        [held] = poll(backend, repository, topic)
        assert held == copy
        with backend.begin() as tx:
            repository.complete(tx, topic, held, TaskDecision.SUSPENSION)
            last = repository.recreate(tx, topic, Revivification.APPEND, [copy])[copy]
        decide(backend, repository, topic, last)
        found = wait.result(TIMEOUT)
    assert (found, found.state) == (last, TaskState.SUCCEEDED)
    assert repository.wait(backend.begin, ref(task), NO_TIME) == last


def _purge(repository: Repository, tx: Any, topic: str) -> None:  # noqa: ANN401 - any transaction
    repository.purge(tx, topic, states=list(set(TaskState) - {TaskState.ACTIVE}))


def _delete(repository: Repository, tx: Any, topic: str) -> None:  # noqa: ANN401 - any transaction
    repository.push(tx, topic, "task", insertion=Insertion.DELETE)


def _destroy(repository: Repository, tx: Any, topic: str) -> None:  # noqa: ANN401 - any transaction
    repository.destroy(tx, topic)


@few
@pytest.mark.parametrize("delete", [_purge, _delete, _destroy], ids=lambda delete: delete.__name__)
def test_a_deleted_task_ends_a_wait(
    backend: Backend, repository: Repository, topic: str, delete: Callable[..., None]
) -> None:
    """With an error, whether it was deleted before or meanwhile (S1-18)."""
    [task] = push(backend, repository, topic, "task")
    desk = Desk(backend)
    with waiting(repository, desk, ref(task)) as [wait]:
        desk.seen(2)
        with backend.begin() as tx:
            delete(repository, tx, topic)
        with pytest.raises(TaskStateError) as caught:
            wait.result(TIMEOUT)
    assert caught.value.tasks == {task}
    with pytest.raises(TaskStateError):
        repository.wait(backend.begin, ref(task), NO_TIME)


@few
def test_a_missing_task_is_told(backend: Backend, repository: Repository, topic: str) -> None:
    """Never pushed, of another topic, or a copy that is gone (S1-18)."""
    [task] = push(backend, repository, topic, "task")
    decide(backend, repository, topic, task)
    run(backend, repository.recreate, topic, Revivification.APPEND, [task])
    run(backend, repository.purge, topic, states=[TaskState.READY])
    for missing in (ref(task), ref(task, "elsewhere"), TaskRef(topic, task.sequence + 9)):
        with pytest.raises(TaskStateError):
            repository.wait(backend.begin, missing, NO_TIME)


@pytest.mark.backends("sqlite", "postgresql")
@pytest.mark.kinds("connection", "session")
@pytest.mark.usefixtures("no_thread_stays")
def test_a_notification_wakes_the_waiter(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision itself ends the wait: were it not told, the next look would be in an hour (S1-10, S1-18)."""
    monkeypatch.setattr("task_sql.waiting._ALARMED", 3600.0)
    tasks = push(backend, repository, topic, *"abc")
    desk = Desk(backend)
    with waiting(repository, desk, *map(ref, tasks)) as waits:
        desk.seen(6)  # each has looked once more after it began to listen
        for task, wait in zip(tasks, waits, strict=True):
            decide(backend, repository, topic, task)
            assert wait.result(TIMEOUT) == task

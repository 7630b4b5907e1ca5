"""What becomes of a batch, and what the listener hears of it."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Task, TaskDecision, TaskRepository, TaskState
from task_processor import TaskListener, batch, each
from tests.backends.steps import info, push, states
from tests.processor.support import PATIENCE, PlainHandler, Recorder, running

if TYPE_CHECKING:
    from collections.abc import Sequence

    from task_processor import Callback, Completion, OnFailure
    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
MOMENT = timedelta(milliseconds=1)
claims = pytest.mark.parametrize("claim", Claim)


@pytest.fixture
def recorder() -> Recorder:
    """A listener that remembers."""
    return Recorder()


def nothing(_: Task) -> None:
    """Succeed."""


@claims
def test_events_of_work_that_succeeds(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """Start, callback, complete, dispatched, all with the trace of the start (TM-10, TM-14, TM-16)."""
    tasks = push(backend, repository, topic, "a", "b")
    with running(backend, repository, each(nothing), listener=recorder, claim=claim):
        recorder.wait("empty")
    assert recorder.names() == ["start", "callback", "complete", "dispatched"]
    assert recorder.traces == [tuple(tasks)] * 3
    assert recorder.wait("complete") == [dict.fromkeys(tasks, TaskDecision.SUCCESS)]
    assert recorder.topics == {topic}


@claims
def test_events_of_a_handler_that_raises(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """Start, error, dispatched; all tasks FAILED with the error (TM-11, TM-19)."""
    tasks = push(backend, repository, topic, "a", "b")

    def fail(*_: object) -> None:
        message = "no handler"
        raise ValueError(message)

    with running(backend, repository, lambda _: PlainHandler(fail), listener=recorder, claim=claim):
        recorder.wait("empty")
    assert recorder.names() == ["start", "error", "dispatched"]
    for task in tasks:
        stored = info(backend, repository, topic, task)
        assert (stored.state, "ValueError: no handler" in (stored.output or "")) == (TaskState.FAILED, True)


@claims
def test_events_of_a_completion_that_fails(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """Start, callback, error, dispatched; its effects are undone and all tasks FAILED (TM-12, TM-19, TM-B8)."""
    [task] = push(backend, repository, topic, "a")
    answers = []

    def complete(tx: Transaction) -> dict[Task, TaskDecision]:
        repository.push(tx, topic, "effect")
        raise ValueError

    def handle(_: object, callback: Callback, __: object) -> None:
        answers.append(callback(complete))

    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder, claim=claim):
        recorder.wait("empty")
    assert recorder.names() == ["start", "callback", "error", "dispatched"]
    assert answers == [False]
    assert states(backend, repository, topic) == {task.sequence: TaskState.FAILED}


@claims
def test_work_in_the_background(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """Callback and failure may come from any thread and tell the outcome (TM-13, TM-15, TM-B8)."""
    good, bad = push(backend, repository, topic, "good", "bad")
    threads, answers = [], []

    def handle(tasks: Sequence[Task], callback: Callback, on_failure: OnFailure) -> None:
        assert isinstance(tasks, tuple)

        def work() -> None:
            if tasks[0] == bad:
                answers.append(("bad", on_failure(ValueError("background"))))
            else:
                answers.append(("good", callback(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS))))

        threads.append(threading.Thread(target=work))
        threads[-1].start()

    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder, size=1, claim=claim):
        recorder.wait("complete")
        recorder.wait("error")
        recorder.wait("dispatched", 2)
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(answers) == [("bad", True), ("good", True)]
    assert states(backend, repository, topic) == {good.sequence: TaskState.SUCCEEDED, bad.sequence: TaskState.FAILED}


@claims
def test_waiting_for_the_callback_in_another_thread_is_no_deadlock(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """A handler may block until its own helper has been answered (TM-15)."""
    push(backend, repository, topic, "a")

    def handle(tasks: Sequence[Task], callback: Callback, _: object) -> None:
        helper = threading.Thread(target=callback, args=(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS),))
        helper.start()
        helper.join(PATIENCE)
        assert not helper.is_alive()

    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder, claim=claim):
        recorder.wait("dispatched")
    assert recorder.names() == ["start", "callback", "complete", "dispatched"]


@claims
def test_the_first_outcome_counts(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """A second callback, a failure and an error after it are ignored, and the handler is told (TM-B7)."""
    [task] = push(backend, repository, topic, "a")
    answers = []

    def handle(tasks: Sequence[Task], callback: Callback, on_failure: OnFailure) -> None:
        answers.append(callback(lambda _: dict.fromkeys(tasks, TaskDecision.FILTER)))
        answers.append(callback(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS)))
        answers.append(on_failure(ValueError()))
        raise ValueError

    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder, claim=claim):
        recorder.wait("empty")
    assert answers == [True, False, False]
    assert recorder.names() == ["start", "callback", "complete", "dispatched"]
    assert info(backend, repository, topic, task).state == TaskState.FILTERED


@claims
def test_a_decision_for_a_foreign_task_fails_the_batch(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """It is an error inside the transaction, and all tasks of the batch are FAILED with it (TM-17)."""
    first, second = push(backend, repository, topic, "a", "b")
    foreign = Task(first.sequence + 1000, "foreign")

    def decide(tasks: Sequence[Task]) -> dict[Task, TaskDecision]:
        return dict.fromkeys([*tasks, foreign], TaskDecision.SUCCESS)

    with running(backend, repository, batch(decide), listener=recorder, claim=claim):
        recorder.wait("empty")
    assert recorder.names() == ["start", "callback", "error", "dispatched"]
    assert states(backend, repository, topic) == dict.fromkeys([first.sequence, second.sequence], TaskState.FAILED)
    assert "outside of the batch: foreign" in (info(backend, repository, topic, first).output or "")


@claims
def test_a_task_without_decision_fails_alone(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """Its output says that it was missing, the other decisions stand (TM-18)."""
    first, second = push(backend, repository, topic, "a", "b")
    with running(
        backend, repository, batch(lambda tasks: {tasks[0]: "ok", tasks[1]: None}), listener=recorder, claim=claim
    ):
        recorder.wait("empty")
    assert recorder.names() == ["start", "callback", "complete", "dispatched"]
    assert info(backend, repository, topic, first).state == TaskState.SUCCEEDED
    stored = info(backend, repository, topic, second)
    assert (stored.state, "missing in the result set" in (stored.output or "")) == (TaskState.FAILED, True)


def giving(decisions: dict[Task, TaskDecision]) -> Completion:
    """A completion without effects."""
    return lambda _: decisions


class Broken(TaskListener):
    """Raises whatever it hears."""

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - as declared
        """Give a method that raises."""
        if not name.startswith("on_"):
            return super().__getattribute__(name)

        def fail(*_: object) -> None:
            raise RuntimeError(name)

        return fail


@claims
def test_errors_of_the_listener_affect_nothing(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """A listener that always raises sees the same tasks succeed and fail (TM-23, TM-B9)."""
    push(backend, repository, topic, "a", "b", "c")
    done = threading.Semaphore(0)

    def work(task: Task) -> None:
        done.release()
        if task.identifier == "b":
            raise ValueError

    with running(backend, repository, each(work), listener=Broken(), size=1, claim=claim):
        for _ in range(3):
            assert done.acquire(timeout=PATIENCE)
    assert list(states(backend, repository, topic).values()) == [
        TaskState.SUCCEEDED,
        TaskState.FAILED,
        TaskState.SUCCEEDED,
    ]


def test_the_loop_polls_again_as_soon_as_the_handler_returns(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder
) -> None:
    """A handler that does not block gets batch after batch, decided later (TM-13, TM-26)."""
    push(backend, repository, topic, "a", "b", "c")
    callbacks = []

    def handle(tasks: Sequence[Task], callback: Callback, _: object) -> None:
        callbacks.append((tasks, callback))

    with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder, size=1):
        recorder.wait("empty")
        assert recorder.names() == ["start", "dispatched"] * 3
        for tasks, callback in callbacks:
            decisions = dict.fromkeys(tasks, TaskDecision.SUCCESS)
            assert callback(giving(decisions)) is True
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}

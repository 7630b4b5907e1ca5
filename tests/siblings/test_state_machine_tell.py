"""A state machine is told from outside how to go on, and whoever tells it wins."""

from __future__ import annotations

import multiprocessing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import (
    InvalidTaskError,
    Task,
    TaskRef,
    TaskRepository,
    TaskState,
    TaskStateError,
    UnknownOwnerError,
)
from task_processor.machine.machine import StateMachine
from task_processor.machine.transition import Transition
from tests.backends.steps import complete, drive, info, poll, push, states
from tests.contention.member import part
from tests.contention.processes import Process
from tests.processor.support import PATIENCE, Recorder, running, working
from tests.siblings.machines import (
    BRIEF,
    LONG,
    Waiting,
    finish_by_callback,
    finish_by_work,
    run_through,
    state_of,
    stored,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
OPEN = [TaskState.ACTIVE, TaskState.READY, TaskState.EXPIRED, TaskState.FAILED, TaskState.SUSPENDED]
TRANSITIONS = {
    "to": Transition.to("checked", {"by": "callback"}),
    "stay": Transition.stay({"asked": 2}, LONG),
    "finish": Transition.finish("told"),
    "fail": Transition.fail("told"),
}


def close(_: Task, data: object) -> Transition:
    """End with what was given."""
    return Transition.finish(str(data))


MACHINE = StateMachine("waiting").on("waiting", lambda *_: Transition.stay(None)).on("checked", close)


def tell(
    backend: Backend, repository: Repository, topic: str, task: Task | TaskRef | int, transition: Transition
) -> None:
    """Tell a task in a committed transaction."""
    with backend.begin() as tx:
        MACHINE.tell(repository, tx, topic, task, transition)


@pytest.mark.parametrize("kind", TRANSITIONS)
@pytest.mark.parametrize("state", OPEN)
def test_a_task_is_told_wherever_it_stands(
    backend: Backend, repository: Repository, topic: str, state: TaskState, kind: str
) -> None:
    """Held, waiting, due or failed: it goes on as it was told (S0-12, S0-13)."""
    [task] = push(backend, repository, topic, "a", input=stored("waiting", 1))
    drive(backend, repository, topic, task, state)
    before = info(backend, repository, topic, task)
    tell(backend, backend.repository("web"), topic, task, TRANSITIONS[kind])
    found = info(backend, repository, topic, task)
    expected: dict[str, tuple[TaskState, str | None, tuple[str, object]]] = {
        "to": (TaskState.READY, before.output, ("checked", {"by": "callback"})),
        "stay": (TaskState.SUSPENDED, None, ("waiting", {"asked": 2})),
        "finish": (TaskState.SUCCEEDED, "told", ("waiting", 1)),
        "fail": (TaskState.FAILED, "told", ("waiting", 1)),
    }
    assert (found.state, found.output, state_of(found)) == expected[kind]
    assert found.token == before.token + 1
    assert (found.state is TaskState.SUSPENDED) is (found.due is not None and kind == "stay")


def test_a_task_told_to_go_on_is_worked_on_in_that_state(backend: Backend, repository: Repository, topic: str) -> None:
    """At its old place, and the call itself uses up no attempt (S0-10, S0-13)."""
    [task] = push(backend, repository, topic, "a")
    factory = MACHINE.bind(repository, backend.begin)
    run_through(backend, repository, factory)
    tell(backend, repository, topic, task, Transition.to("checked", "fine"))
    run_through(backend, repository, factory)
    found = info(backend, repository, topic, task)
    assert (found.state, found.output, found.attempt) == (TaskState.SUCCEEDED, "fine", 2)


@pytest.mark.parametrize("kind", TRANSITIONS)
@pytest.mark.parametrize("state", [TaskState.SUCCEEDED, TaskState.FILTERED, TaskState.RECREATED, TaskState.REDUNDANT])
def test_what_has_ended_is_told_nothing(
    backend: Backend, repository: Repository, topic: str, state: TaskState, kind: str
) -> None:
    """Whoever comes too late learns so, and its transaction stays usable (S0-12, P7)."""
    [task] = push(backend, repository, topic, "a", input="1")
    drive(backend, repository, topic, task, state)
    before = info(backend, repository, topic, task)
    with backend.begin() as tx:
        with pytest.raises(TaskStateError) as raised:
            MACHINE.tell(repository, tx, topic, task, TRANSITIONS[kind])
        repository.push(tx, topic, "usable")
    assert raised.value.tasks == {task}
    after = info(backend, repository, topic, task)
    assert (after.state, after.input, after.token) == (before.state, before.input, before.token)


@pytest.mark.parametrize("name", [lambda topic, task: TaskRef(topic, task.sequence), lambda _, task: task.sequence])
def test_tasks_may_be_named_by_their_sequence(
    backend: Backend, repository: Repository, topic: str, name: Callable[[str, Task], TaskRef | int]
) -> None:
    """All that a callback has is what it was given when the document was sent (S0-13)."""
    [task] = push(backend, repository, topic, "a")
    tell(backend, repository, topic, name(topic, task), Transition.finish())
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED
    with pytest.raises(TaskStateError):
        tell(backend, repository, topic, name(topic, Task(task.sequence + 1, "none")), Transition.finish())


@pytest.mark.kinds("connection", "session")
def test_telling_is_part_of_the_callers_transaction(backend: Backend, repository: Repository, topic: str) -> None:
    """Rolled back, nothing was told, and the holder goes on (P7)."""
    push(backend, repository, topic, "a", input=stored("waiting", 1))
    [task] = poll(backend, repository, topic)
    tx = backend.open()
    MACHINE.tell(repository, tx, topic, task, TRANSITIONS["to"])
    backend.rollback(tx)
    backend.close(tx)
    complete(backend, repository, topic, task)
    found = info(backend, repository, topic, task)
    assert (found.state, state_of(found)) == (TaskState.SUCCEEDED, ("waiting", 1))


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "unknown state": (lambda: Transition.to("nowhere"), InvalidTaskError, "no state 'nowhere' in this machine"),
    "no transition": (lambda: "checked", InvalidTaskError, "told a Transition, not str"),
    "unreadable input": (lambda: Transition.stay(1), InvalidTaskError, "state must not be empty"),
}


@pytest.mark.kinds("connection", "session")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_changes_nothing(backend: Backend, repository: Repository, topic: str, mistake: str) -> None:
    """Also if the caller catches it and commits, the holder goes on (P7)."""
    push(backend, repository, topic, "a", input=stored(" "))
    [task] = poll(backend, repository, topic)
    make, kind, problem = MISTAKES[mistake]
    web = backend.repository("web")
    with backend.begin() as tx:
        with pytest.raises(kind, match=problem):
            MACHINE.tell(web, tx, topic, task, make())
        repository.push(tx, topic, "usable")
    complete(backend, repository, topic, task)


def test_who_tells_must_be_registered(backend: Backend, repository: Repository, topic: str) -> None:
    """As whoever takes a task over (S0-13)."""
    [task] = push(backend, repository, topic, "a")
    with backend.begin() as tx, pytest.raises(UnknownOwnerError):
        MACHINE.tell(backend.repository("web", register=False), tx, topic, task, Transition.finish())


def test_a_callback_wins_over_the_work_that_asks(
    backend: Backend, repository: Repository, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The work is cancelled, and the task goes on as it was told, by the next poll (S0-13, S0-15)."""
    [task] = push(backend, repository, topic, "a")
    asking, recorder = Waiting(), Recorder()
    machine = StateMachine("asking").on("asking", asking).on("checked", close)
    factory = machine.bind(repository, backend.begin, interval=BRIEF)
    web = backend.repository("web")
    with running(backend, repository, factory, listener=recorder) as manager:
        assert asking.begun.wait(PATIENCE)
        with backend.begin() as tx:
            machine.tell(web, tx, topic, task, Transition.to("checked", "by the callback"))
        assert asking.cancelled.wait(PATIENCE)
        recorder.wait("lost")
        manager.resume()
        recorder.wait("complete")
    found = info(backend, repository, topic, task)
    assert (found.state, found.output) == (TaskState.SUCCEEDED, "by the callback")
    assert "was taken over" in caplog.text


def test_either_the_completion_or_the_callback_wins(backend: Backend, repository: Repository, topic: str) -> None:
    """Two processes end the same task at the same moment, again and again: exactly one does (S0-08, S0-13, P2)."""
    rounds = 1_000 if backend.name == "postgresql" else 200
    push(backend, repository, topic, *map(str, range(rounds)))
    tasks = poll(backend, repository, topic, rounds)
    barrier = multiprocessing.get_context("spawn").Barrier(2)
    processes = [Process(barrier) for _ in range(2)]
    try:
        processes[0].start(backend.url, part("me", finish_by_work, topic=topic, tasks=tasks))
        processes[1].start(backend.url, part("web", finish_by_callback, topic=topic, tasks=tasks))
        work, callback = [process.result() for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert len(work) == rounds
    assert callback == [not won for won in work]
    outputs = [info(backend, repository, topic, task).output for task in tasks]
    assert outputs == ["work" if won else "callback" for won in work]


def test_either_the_machine_or_the_callback_wins(backend: Backend, repository: Repository, topic: str) -> None:
    """While a machine goes through its states, callbacks come at any moment: each task ends once (S0-13, S0-15, P2)."""
    number = 300 if backend.name == "postgresql" else 60
    machine = (
        StateMachine("first")
        .on("first", lambda *_: Transition.to("second"), LONG)
        .on("second", lambda *_: Transition.finish("machine"))
    )
    tasks = push(backend, repository, topic, *map(str, range(number)))
    web, recorder = backend.repository("web"), Recorder()
    told: dict[int, bool] = {}
    factory = machine.bind(repository, backend.begin, interval=timedelta(milliseconds=1), concurrency=3)
    with working(backend, repository, factory, options={"listener": recorder}):
        for begun, task in enumerate(tasks, 1):
            recorder.wait("start", begun)
            try:
                with backend.begin() as tx:
                    machine.tell(web, tx, topic, task, Transition.finish("callback"))
            except TaskStateError:
                told[task.sequence] = False
            else:
                told[task.sequence] = True
    ended = [task.sequence for decisions in recorder.wait("complete", 0) for task in decisions]
    lost = [task.sequence for batch in recorder.wait("lost", 0) for task in batch]
    outputs = {task.sequence: info(backend, repository, topic, task).output for task in tasks}
    assert outputs == {sequence: "callback" if won else "machine" for sequence, won in told.items()}
    assert sorted(ended) == sorted(sequence for sequence, won in told.items() if not won)
    assert sorted(lost) == sorted(sequence for sequence, won in told.items() if won)
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}

"""State machines hold their tasks while they work, and stop when they hold them no longer."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import LostTaskError, Revivification, Task, TaskDecision, TaskRepository, TaskState
from task_processor import TaskManager
from task_processor.machine.machine import StateMachine
from task_processor.machine.task import Hold
from task_processor.machine.transition import Transition
from tests.backends.steps import info, poll, push
from tests.processor.support import PATIENCE, Gate, Recorder, eventually, running
from tests.siblings.machines import BRIEF, LONG, Waiting, machine_threads, state_of

if TYPE_CHECKING:
    from task_processor.machine.task import HeldTask
    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
DROPPED = "was taken over while it was worked on; what came of that is dropped"
leases = pytest.mark.parametrize("lease", [None, BRIEF, LONG])
"""None, one that is extended again and again, and one that is not extended during a test."""


def take_over(backend: Backend, topic: str, task: Task, message: str = "the thief's") -> None:
    """Somebody who knows better ends a task that another one works on."""
    thief = backend.repository("thief")
    with backend.begin() as tx:
        thief.complete(tx, topic, thief.eject(tx, topic, task), TaskDecision.success(message))


def test_a_scheduled_task_is_polled_once_it_is_due_and_then_held(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """It is nobody's until then, and afterwards another's only once the lease is over (S0-02, S0-03, S0-05, S0-06)."""
    [task] = push(backend, repository, topic, "a", due=timedelta(hours=1))
    assert info(backend, repository, topic, task).owner is None
    with backend.begin() as tx:
        assert repository.promote(tx, topic) == 0
    assert poll(backend, repository, topic, lease=LONG) == []
    backend.sql("UPDATE task SET due = created")
    with backend.begin() as tx:
        assert repository.promote(tx, topic) == 1
    [held] = poll(backend, repository, topic, lease=timedelta())
    found = info(backend, repository, topic, task)
    assert (found.owner, found.lease) == ("me", found.polled)
    other = backend.repository("other")
    assert poll(backend, other, topic) == []
    with backend.begin() as tx:
        assert other.expire(tx, LONG) == 1
    with backend.begin() as tx, pytest.raises(LostTaskError):
        repository.extend(tx, topic, [held], LONG)


def test_tasks_are_taken_in_the_order_of_their_sequence(backend: Backend, repository: Repository, topic: str) -> None:
    """Whichever was due first: the order of a topic is one for all (S0-04, S0-B1)."""
    first, second = (push(backend, repository, topic, each, due=timedelta())[0] for each in "ab")
    backend.sql("UPDATE task SET due = :due WHERE sequence = :sequence", due=None, sequence=first.sequence)
    with backend.begin() as tx:
        repository.promote(tx, topic)
    assert poll(backend, repository, topic, 2) == [second]


@leases
def test_asynchronous_work_is_cancelled_when_its_task_is_taken_over(
    backend: Backend, repository: Repository, topic: str, lease: timedelta | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing of it is written, and the loss is told (S0-13, S0-15, P2)."""
    [task] = push(backend, repository, topic, "a")
    waiting, recorder = Waiting(), Recorder()
    machine = StateMachine("first").on("first", waiting, lease)
    with running(
        backend, repository, machine.bind(repository, backend.begin, interval=BRIEF), listener=recorder
    ) as manager:
        assert waiting.begun.wait(PATIENCE)
        take_over(backend, topic, task)
        assert waiting.cancelled.wait(PATIENCE)
        assert recorder.wait("lost") == [(task,)]
        assert manager.statistics.lost == 1
    assert [name for name in recorder.names() if name != "dispatched"] == ["start", "callback", "lost"]
    found = info(backend, repository, topic, task)
    assert (found.state, found.output, found.input) == (TaskState.SUCCEEDED, "the thief's", None)
    assert f"task a ({task.sequence}) {DROPPED}" in caplog.text


def test_a_managers_lease_and_a_machines_get_along(backend: Backend, repository: Repository, topic: str) -> None:
    """Both extend, both find the loss out, and it is told once (S0-14, S0-15)."""
    first, second = push(backend, repository, topic, "first", "second")
    waiting, recorder = Waiting(), Recorder()

    async def work(task: Task, _: object) -> Transition:
        return await waiting() if task == first else Transition.finish()

    factory = StateMachine("first").on("first", work, BRIEF).bind(repository, backend.begin)
    with running(backend, repository, factory, listener=recorder, lease=BRIEF):
        assert waiting.begun.wait(PATIENCE)
        recorder.wait("complete")
        take_over(backend, topic, first)
        assert waiting.cancelled.wait(PATIENCE)
    assert recorder.wait("lost") == [(first,)]
    assert info(backend, repository, topic, first).output == "the thief's"
    assert info(backend, repository, topic, second).state is TaskState.SUCCEEDED


@pytest.mark.parametrize("change", ["completed", "expired", "deleted", "polled"])
def test_every_loss_is_found_out(backend: Backend, repository: Repository, topic: str, change: str) -> None:
    """Whatever became of the task (S0-15, S0-B2)."""
    [task] = push(backend, repository, topic, "a")
    waiting = Waiting()
    factory = StateMachine("first").on("first", waiting).bind(repository, backend.begin, interval=BRIEF)
    with running(backend, repository, factory):
        assert waiting.begun.wait(PATIENCE)
        if change == "completed":
            take_over(backend, topic, task)
        elif change == "deleted":
            with backend.begin() as tx:
                repository.purge_all(tx, topic)
        else:
            other = backend.repository("other")
            backend.age_owner("me", 3600)
            with backend.begin() as tx:
                assert other.expire(tx, LONG / 2) == 1
                if change == "polled":
                    other.recreate(tx, topic, Revivification.RESET, [task])
                    assert other.poll(tx, topic) == task
        assert waiting.cancelled.wait(PATIENCE)


def test_work_that_begins_after_the_loss_is_cancelled_at_once() -> None:
    """However close together they come (S0-15)."""
    hold, cancelled = Hold(), threading.Event()
    hold.lose()
    with hold.cancelling(cancelled.set):
        assert cancelled.is_set()


def test_plain_work_can_ask_whether_it_is_still_needed(
    backend: Backend, repository: Repository, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its task tells it, and what it gives afterwards is dropped (S0-15)."""
    [task] = push(backend, repository, topic, "a")
    begun, ended, never = threading.Event(), threading.Event(), threading.Event()

    def work(task: HeldTask, _: object) -> Transition:
        assert task.held
        begun.set()
        while task.held:
            never.wait(0.005)
        ended.set()
        return Transition.to("second", "of no use")

    machine = StateMachine("first").on("first", work).on("second", lambda *_: Transition.fail("it must not run"))
    with running(backend, repository, machine.bind(repository, backend.begin, interval=BRIEF)):
        assert begun.wait(PATIENCE)
        take_over(backend, topic, task)
        assert ended.wait(PATIENCE)
    found = info(backend, repository, topic, task)
    assert (found.state, found.output, found.input) == (TaskState.SUCCEEDED, "the thief's", None)
    assert DROPPED in caplog.text


@pytest.mark.parametrize(
    "outcome",
    [Transition.to("second", 1), Transition.stay(1, LONG), Transition.finish("mine"), Transition.fail("mine")],
)
def test_a_loss_that_nobody_noticed_is_found_by_the_next_write(
    backend: Backend, repository: Repository, topic: str, outcome: Transition
) -> None:
    """Neither a state nor its data nor a decision is stored (S0-08, S0-13, P2)."""
    [task] = push(backend, repository, topic, "a")
    recorder, seconds = Recorder(), list[object]()

    def first(task: Task, _: object) -> Transition:
        take_over(backend, topic, task)
        return outcome

    def second(_: Task, data: object) -> Transition:
        seconds.append(data)
        return Transition.finish()

    machine = StateMachine("first").on("first", first).on("second", second)
    with running(backend, repository, machine.bind(repository, backend.begin, interval=LONG), listener=recorder):
        assert recorder.wait("lost") == [(task,)]
    assert seconds == []
    found = info(backend, repository, topic, task)
    assert (found.state, found.output, found.input) == (TaskState.SUCCEEDED, "the thief's", None)


def test_one_lost_task_costs_the_others_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """Each is decided by itself, and no work is done twice (CO-B1, S0-15)."""
    names = ["lost", "to", "stay", "finish"]
    tasks = dict(zip(names, push(backend, repository, topic, *names), strict=True))
    calls: list[str] = []
    waiting, recorder = Waiting(), Recorder()

    async def first(task: Task, data: object) -> Transition:
        calls.append(task.identifier)
        match task.identifier:
            case "lost":
                return await waiting()
            case "to":
                return Transition.to("second", 2)
            case "stay":
                return Transition.stay(3, LONG)
        return Transition.finish(str(data))

    async def second(*_: object) -> Transition:
        calls.append("second")
        return Transition.finish("second")

    machine = StateMachine("first").on("first", first).on("second", second)
    with running(backend, repository, machine.bind(repository, backend.begin, interval=BRIEF), listener=recorder):
        assert waiting.begun.wait(PATIENCE)
        eventually(lambda: "second" in calls)
        take_over(backend, topic, tasks["lost"])
        recorder.wait("empty")
    assert recorder.wait("lost") == [(tasks["lost"],)]
    assert sorted(calls) == sorted([*names, "second"])
    found = {name: info(backend, repository, topic, task) for name, task in tasks.items()}
    assert {name: (each.state, each.output) for name, each in found.items()} == {
        "lost": (TaskState.SUCCEEDED, "the thief's"),
        "to": (TaskState.SUCCEEDED, "second"),
        "stay": (TaskState.SUSPENDED, None),
        "finish": (TaskState.SUCCEEDED, "None"),
    }
    assert state_of(found["stay"]) == ("first", 3)


def test_work_that_waits_for_its_turn_does_not_begin_once_it_is_lost(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """It would be of no use (S0-15)."""
    first, second = push(backend, repository, topic, "first", "second")
    calls: list[str] = []
    with Gate() as gate:

        def work(task: HeldTask, _: object) -> Transition:
            calls.append(task.identifier)
            if task == first:
                gate.pass_through()
            return Transition.finish()

        recorder = Recorder()
        # The first one is looked at too, which tells that the second one was.
        looked = Looking(repository)
        factory = StateMachine("first").on("first", work).bind(looked, backend.begin, interval=BRIEF)
        with running(backend, repository, factory, listener=recorder):
            gate.wait()
            recorder.wait("start", 2)
            take_over(backend, topic, second)
            number = looked.number
            eventually(lambda: looked.number > number + 2)
            gate.open()
            recorder.wait("empty")
    assert calls == ["first"]
    assert info(backend, repository, topic, first).state is TaskState.SUCCEEDED


class Looking:
    """A repository that counts how often it was looked into."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.number = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's
        if name == "task":
            self.number += 1
        return getattr(self._repository, name)


def test_work_that_takes_too_long_to_stop_is_cancelled(backend: Backend, repository: Repository, topic: str) -> None:
    """What a manager gives back can be polled at once, and its asynchronous work ends (DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    waiting = Waiting()
    factory = StateMachine("first").on("first", waiting).bind(repository, backend.begin, interval=BRIEF)
    manager = TaskManager(topic, repository, backend.begin, factory)
    assert manager.start() is True
    assert waiting.begun.wait(PATIENCE)
    with pytest.raises(TimeoutError):
        manager.stop(timedelta(milliseconds=1))
    assert manager.abandon() == 1
    assert manager.stop() is True
    assert waiting.cancelled.is_set()
    found = info(backend, repository, topic, task)
    assert (found.state, found.attempt) == (TaskState.READY, 0)


def test_a_lease_that_ran_out_loses_nothing_by_itself(backend: Backend, repository: Repository, topic: str) -> None:
    """Until somebody expires the task, its holder may still decide it (S0-B5)."""
    push(backend, repository, topic, "a")
    [task] = poll(backend, repository, topic, lease=timedelta())
    with backend.begin() as tx:
        repository.checkpoint(tx, topic, task, "late")
        repository.complete(tx, topic, task)
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


def test_several_tasks_are_held_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """Told apart by their tokens, not by the name of their holder (S0-18, S0-B2)."""
    tasks = push(backend, repository, topic, *"abc")
    works = {task.identifier: Waiting() for task in tasks}

    async def first(task: Task, _: object) -> Transition:
        return await works[task.identifier]()

    machine = StateMachine("first").on("first", first)
    factory = machine.bind(repository, backend.begin, interval=BRIEF)
    with running(backend, repository, factory):
        for each in works.values():
            assert each.begun.wait(PATIENCE)
        for task in tasks:
            assert [each.cancelled.is_set() for each in works.values()].count(True) == tasks.index(task)
            take_over(backend, topic, task, task.identifier)
            assert works[task.identifier].cancelled.wait(PATIENCE)
    assert [info(backend, repository, topic, task).output for task in tasks] == [*"abc"]
    assert machine_threads() == []

"""State machines extend the leases of their tasks, each by itself, while they work."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Task, TaskRepository, TaskState
from task_processor.machine.machine import StateMachine
from task_processor.machine.transition import Transition
from task_processor.machine.watch import ClaimWatch, Watched
from tests.backends.steps import info, poll, push, states
from tests.processor.support import Gate, Recorder, eventually, running
from tests.siblings.machines import BRIEF, LEASE, LONG, machine_threads, run_through

if TYPE_CHECKING:
    from datetime import datetime

    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]


def lease_of(backend: Backend, repository: Repository, topic: str, task: Task) -> datetime:
    """The end of a claim, which must have one."""
    lease = info(backend, repository, topic, task).lease
    assert lease is not None
    return lease


def test_the_lease_of_a_state_is_extended_while_its_work_goes_on(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """It begins with the work, and nobody can expire it (S0-05, S0-07, S0-14)."""
    [task] = push(backend, repository, topic, "a")
    other = backend.repository("other")
    with Gate() as gate:

        def work(*_: object) -> Transition:
            gate.pass_through()
            return Transition.finish()

        factory = StateMachine("first").on("first", work, LEASE).bind(repository, backend.begin)
        with running(backend, repository, factory):
            gate.wait()

            def extended(before: datetime) -> bool:
                with backend.begin() as tx:
                    assert other.expire(tx, LONG) == 0
                return lease_of(backend, repository, topic, task) > before

            for _ in range(3):
                eventually(partial(extended, lease_of(backend, repository, topic, task)))
            gate.open()
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED
    assert machine_threads() == []


@pytest.mark.backends("postgresql")
def test_a_task_that_somebody_has_locked_costs_the_others_no_lease(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Whoever tells one task may take its time: the others are extended, and that one as soon as it can be (S0-14)."""
    told, other = push(backend, repository, topic, "told", "other")
    operator, gate = backend.repository("operator"), Gate()

    async def work(*_: object) -> Transition:
        await asyncio.to_thread(gate.pass_through)
        return Transition.finish()

    machine = StateMachine("first").on("first", work, LEASE)

    def extended(before: datetime) -> bool:
        with backend.begin() as tx:
            assert operator.expire(tx, LONG) == 0
        return lease_of(backend, repository, topic, other) > before

    with running(backend, repository, machine.bind(repository, backend.begin)), gate:
        gate.wait()
        gate.wait()
        tx = backend.open()
        machine.tell(operator, tx, topic, told, Transition.to("first"))
        for _ in range(6):  # longer than the lease of the one that is told
            eventually(partial(extended, lease_of(backend, repository, topic, other)))
        before = lease_of(backend, repository, topic, told)
        backend.rollback(tx)
        backend.close(tx)
        eventually(lambda: lease_of(backend, repository, topic, told) > before)
        # The wait is not taken off the lease: else others could expire it at once.
        assert backend.sql("SELECT min(lease) > clock_timestamp() FROM task") == [(True,)]
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}
    assert machine_threads() == []


class Entering:
    """A repository in which the next state begins while the lease of the one before is extended."""

    def __init__(self, repository: Repository, watched: Watched) -> None:
        self._repository = repository
        self._watched = watched
        self.leases: list[timedelta] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's
        return getattr(self._repository, name)

    def extend(self, tx: Any, topic: str, tasks: list[Task], lease: timedelta) -> None:  # noqa: ANN401 - of any kind
        """Extend, and let it begin."""
        self._repository.extend(tx, topic, tasks, lease)
        self._watched.lease = LONG
        self.leases.append(lease)


def test_the_lease_of_a_state_is_not_replaced_by_that_of_the_one_before(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """If it was extended when the next one began, it is extended once more (S0-11, S0-14)."""
    push(backend, repository, topic, "a")
    watched = Watched(*poll(backend, repository, topic, lease=LONG))
    watched.lease = LEASE
    entering: Any = Entering(repository, watched)
    watch = ClaimWatch(topic, entering, backend.begin, BRIEF, 1)
    watch.begin([watched])
    eventually(lambda: len(entering.leases) > 1)
    watch.close()
    assert entering.leases == [LEASE, LONG]


def test_extending_stops_with_the_work(backend: Backend, repository: Repository, topic: str) -> None:
    """What was decided is left alone, and its end is no loss (S0-14)."""
    number = 100
    push(backend, repository, topic, *map(str, range(number)))
    recorder = Recorder()
    factory = (
        StateMachine("first")
        .on("first", lambda *_: Transition.finish(), timedelta(milliseconds=3))
        .bind(repository, backend.begin)
    )
    with running(backend, repository, factory, listener=recorder):
        recorder.wait("complete", number)
        done = [info(backend, repository, topic, task) for [task, *_] in recorder.wait("start")]
        threading.Event().wait(0.05)  # several extensions long, in which nothing may happen
        assert [info(backend, repository, topic, task).lease for task in done] == [each.lease for each in done]
    assert "lost" not in recorder.names()
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}


def test_a_state_without_a_lease_goes_on_under_the_one_before(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """A claim can't lose its end, so that it must be extended on and on (S0-11, S0-14)."""
    [task] = push(backend, repository, topic, "a")
    with Gate() as gate:

        def second(*_: object) -> Transition:
            gate.pass_through()
            return Transition.finish()

        machine = StateMachine("first").on("first", lambda *_: Transition.to("second"), LEASE).on("second", second)
        with running(backend, repository, machine.bind(repository, backend.begin)):
            gate.wait()
            before = lease_of(backend, repository, topic, task)
            eventually(lambda: lease_of(backend, repository, topic, task) > before)
            gate.open()


def test_a_transition_begins_the_lease_of_the_next_state(backend: Backend, repository: Repository, topic: str) -> None:
    """The state and its lease are stored together (S0-11)."""
    push(backend, repository, topic, "a")
    seen = []

    def second(task: Task, _: object) -> Transition:
        seen.append(info(backend, repository, topic, task))
        return Transition.finish()

    machine = (
        StateMachine("first")
        .on("first", lambda *_: Transition.to("second"), timedelta(minutes=1))
        .on("second", second, timedelta(hours=5))
    )
    run_through(backend, repository, machine.bind(repository, backend.begin))
    [during] = seen
    assert during.lease is not None
    assert during.polled is not None
    assert during.lease - during.polled > timedelta(hours=4)

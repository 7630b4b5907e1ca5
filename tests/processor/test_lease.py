"""Claims with a lease, which is extended as long as the work goes on."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Task, TaskDecision, TaskRepository, TaskState
from task_processor import BufferingTaskHandlerFactory, batch, each
from tests.backends.steps import info, poll, push, states
from tests.processor.support import PATIENCE, Gate, PlainHandler, Recorder, Shaky, eventually, running

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from task_processor import Callback, OnFailure
    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
LEASE = timedelta(milliseconds=600)


def nothing(_: Task) -> None:
    """Succeed."""


def lease_of(backend: Backend, repository: Repository, topic: str, task: Task) -> datetime:
    """The end of a claim, which must have one."""
    lease = info(backend, repository, topic, task).lease
    assert lease is not None
    return lease


def lease_threads() -> list[str]:
    """The threads that extend leases."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("task-lease")]


@pytest.mark.parametrize("form", ["work", "waiting", "ahead"])
def test_leases_are_extended_while_work_goes_on(
    backend: Backend, repository: Repository, topic: str, form: str
) -> None:
    """Work may take longer than a lease, before its transaction or in a queue (OW-09, DESIGN 3)."""
    prove_extension(backend, repository, topic, form)


@pytest.mark.backends("postgresql")  # SQLite is locked meanwhile, so that nobody can expire it either
def test_leases_are_extended_inside_of_a_transaction(backend: Backend, repository: Repository, topic: str) -> None:
    """Work may take longer than a lease in the transaction that decides it, too (OW-09, DESIGN 3)."""
    prove_extension(backend, repository, topic, "transaction")


@pytest.mark.backends("postgresql")  # SQLite knows one writer
def test_a_locked_task_costs_the_others_no_lease(backend: Backend, repository: Repository, topic: str) -> None:
    """Work that has its own task locked keeps no other batch from being extended (OW-09, DESIGN 3)."""
    recorder, other = Recorder(), backend.repository("other")
    _, free = push(backend, repository, topic, "locked", "free")
    with Gate() as gate:

        def work(task: Task, tx: Transaction) -> None:
            if task.identifier == "locked":
                repository.checkpoint(tx, topic, task, "half way")
            gate.pass_through()

        factory = BufferingTaskHandlerFactory(each(work), buffer=0, workers=2)
        with running(backend, repository, factory, listener=recorder, lease=LEASE, size=1):
            gate.wait()
            gate.wait()
            for _ in range(3):
                before = lease_of(backend, repository, topic, free)
                eventually(lambda: lease_of(backend, repository, topic, free) > before)  # noqa: B023 - at once
            with backend.begin() as tx:
                assert other.expire(tx, timedelta(hours=1)) == 0
            gate.open()
            recorder.wait("complete", 2)
    assert "lost" not in recorder.names()
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}


def prove_extension(backend: Backend, repository: Repository, topic: str, form: str) -> None:
    """See leases move on during work, so that nothing expires."""
    recorder, other = Recorder(), backend.repository("other")
    tasks = push(backend, repository, topic, *("ab" if form in {"waiting", "ahead"} else "a"))
    with Gate() as gate:

        def within(_: Task, __: Transaction) -> None:
            gate.pass_through()

        factory = each(within if form == "transaction" else gate.pass_through)
        if form == "waiting":
            factory = BufferingTaskHandlerFactory(factory, buffer=1, workers=1)
        options: Any = {"listener": recorder, "lease": LEASE, "size": 1, "ahead": int(form == "ahead")}
        with running(backend, repository, factory, **options) as manager:
            gate.wait()
            eventually(lambda: manager.statistics.batches == len(tasks))
            for _ in range(2):
                before = lease_of(backend, repository, topic, tasks[-1])
                eventually(lambda: lease_of(backend, repository, topic, tasks[-1]) > before)  # noqa: B023 - at once
            with backend.begin() as tx:
                assert other.expire(tx, timedelta(hours=1)) == 0
            gate.open()
            recorder.wait("complete", len(tasks))
    assert "lost" not in recorder.names()
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}
    assert lease_threads() == []


@pytest.mark.parametrize(
    "options", [{"lease": None}, {"lease": LEASE, "extend": False}, {"lease": LEASE, "claim": Claim.TRANSACTION}]
)
def test_nothing_is_extended_that_has_no_use_for_it(
    backend: Backend, repository: Repository, topic: str, options: dict[str, Any]
) -> None:
    """Without a lease, against the will, or where the transaction is the claim (DESIGN 3)."""
    push(backend, repository, topic, "a")
    seen: list[str] = []
    recorder = Recorder()
    with running(
        backend, repository, each(lambda _: seen.extend(lease_threads())), listener=recorder, **options
    ) as manager:
        recorder.wait("complete")
        assert manager.active is True
    assert seen == []


@pytest.mark.parametrize("way", ["complete", "fail", "raise"])
def test_a_task_lost_on_the_way_is_reported_at_once(
    backend: Backend, repository: Repository, topic: str, way: str
) -> None:
    """Its later result is dropped without harm, and the rest is worked on again, or fails (P2, DESIGN 5)."""
    tasks = push(backend, repository, topic, "a", "b", "c")
    thief, recorder = backend.repository("thief"), Recorder()
    attempts: list[int] = []
    effects: list[str] = []
    with Gate() as gate:

        def handle(tasks: Sequence[Task], callback: Callback, on_failure: OnFailure) -> None:
            attempts.append(len(tasks))
            if len(attempts) == 1:
                gate.pass_through()
                if way == "fail":
                    assert on_failure(ValueError()) is True
                    return
                if way == "raise":
                    raise ValueError

            def complete(_: Transaction) -> dict[Task, TaskDecision]:
                effects.extend(task.identifier for task in tasks)
                return dict.fromkeys(tasks, TaskDecision.SUCCESS)

            assert callback(complete) is (len(attempts) == 2)

        with running(
            backend, repository, lambda _: PlainHandler(handle), listener=recorder, lease=LEASE / 10, size=3
        ) as manager:
            gate.wait()
            with backend.begin() as tx:
                thief.eject(tx, topic, tasks[1])
            assert recorder.wait("lost") == [(tasks[1],)]
            assert manager.statistics.lost == 1
            gate.open()
            recorder.wait("complete" if way == "complete" else "error")
            recorder.wait("dispatched")
    found = states(backend, repository, topic)
    expected = TaskState.SUCCEEDED if way == "complete" else TaskState.FAILED
    assert [found[task.sequence] for task in tasks] == [expected, TaskState.ACTIVE, expected]
    assert recorder.wait("lost") == [(tasks[1],)]
    assert effects == (["a", "c"] if way == "complete" else [])


@pytest.mark.backends("postgresql")  # where a row that is locked is passed over
def test_tasks_are_given_back_when_nobody_extends_them(backend: Backend, repository: Repository, topic: str) -> None:
    """An extension that is under way would hide them from the next poll (DESIGN 5)."""
    push(backend, repository, topic, "a")
    extending, released = threading.Event(), threading.Event()
    seen: list[bool] = []

    class Slow:
        """Takes its time to extend, unless tasks are released meanwhile."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's own
            return getattr(repository, name)

        def extend(self, *arguments: Any) -> None:
            extending.set()
            released.wait(0.2)
            repository.extend(*arguments)
            extending.clear()

        def release(self, *arguments: Any) -> None:
            seen.append(extending.is_set())
            released.set()
            repository.release(*arguments)

    slow: Any = Slow()
    with Gate() as gate, running(backend, slow, batch(gate.pass_through), lease=LEASE / 10) as manager:
        gate.wait()
        assert extending.wait(PATIENCE)
        assert manager.abandon() == 1
        gate.open()
    assert seen[0] is False


def test_a_batch_that_is_lost_as_a_whole_ends_quietly(backend: Backend, repository: Repository, topic: str) -> None:
    """Whoever holds its tasks decides them (P2)."""
    [task] = push(backend, repository, topic, "a")
    thief, recorder = backend.repository("thief"), Recorder()
    with (
        Gate() as gate,
        running(backend, repository, batch(gate.pass_through), listener=recorder, lease=LEASE / 10),
    ):
        gate.wait()
        with backend.begin() as tx:
            stolen = thief.eject(tx, topic, task)
            thief.complete(tx, topic, stolen, TaskDecision.success("the thief's"))
        recorder.wait("lost")
        gate.open()
        recorder.wait("dispatched")
    assert recorder.names() == ["start", "lost", "callback", "dispatched"]
    assert info(backend, repository, topic, task).output == "the thief's"


def test_a_database_that_is_away_for_a_while_costs_no_lease(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Extending is tried again at once (DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    shaky, recorder = Shaky(backend), Recorder()
    with (
        Gate() as gate,
        running(
            shaky,  # type: ignore[arg-type]
            repository,
            each(gate.pass_through),
            listener=recorder,
            lease=timedelta(seconds=3),
        ),
    ):
        gate.wait()
        before = lease_of(backend, repository, topic, task)
        shaky.down.set()
        recorder.wait("fatal", 2)
        shaky.down.clear()
        eventually(lambda: lease_of(backend, repository, topic, task) > before)
        gate.open()
        recorder.wait("complete")
    assert "lost" not in recorder.names()


def test_what_was_decided_meanwhile_is_not_lost(backend: Backend, repository: Repository, topic: str) -> None:
    """An extension that meets the end of its batch reports nothing (P2)."""
    number = 200
    push(backend, repository, topic, *map(str, range(number)))
    recorder = Recorder()
    with running(
        backend, repository, each(nothing), listener=recorder, size=1, lease=timedelta(milliseconds=100) / 30
    ) as manager:
        recorder.wait("empty")
    # So short a lease may end before it is extended; nobody expires here, so that nothing is lost all the same.
    assert (manager.statistics.lost, manager.statistics.completed) == (0, number)


def test_a_lease_that_ended_is_found_out(backend: Backend, repository: Repository, topic: str) -> None:
    """A manager that could not extend in time learns that others have its task (P2, OW-11)."""
    [task] = push(backend, repository, topic, "a")
    shaky, recorder, other = Shaky(backend), Recorder(), backend.repository("other")
    with (
        Gate() as gate,
        running(shaky, repository, each(gate.pass_through), listener=recorder, lease=LEASE / 5),  # type: ignore[arg-type]
    ):
        gate.wait()
        shaky.down.set()

        def expired() -> bool:
            with backend.begin() as tx:
                return other.expire(tx, timedelta(hours=1)) == 1

        eventually(expired)
        shaky.down.clear()
        recorder.wait("lost")
        gate.open()
    assert info(backend, repository, topic, task).state is TaskState.EXPIRED
    assert poll(backend, other, topic) == []

"""Only the present holder may complete, release, extend or checkpoint a task; for anybody else it is lost (P2)."""

from collections.abc import Callable

import pytest

from task_api import Insertion, LostTaskError, Revivification, Task, TaskDecision, TaskState
from tests.backends import Backend, Transaction
from tests.backends.steps import complete, info, poll, push
from tests.conformance.holders import CALLS, HOUR, MINUTE, end_leases, held, without
from tests.conformance.scenes import Repository, run

Scene = Callable[[Backend, Repository, str], Task]


def never_polled(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that is READY."""
    [task] = push(backend, repository, topic, "a")
    return task


def missing(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that never existed, beside one that is held."""
    [task] = held(backend, repository, topic, "a")
    return Task(task.sequence + 1, "a", token=task.token)


def of_another_owner(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that somebody else polled."""
    push(backend, repository, topic, "a")
    [task] = poll(backend, backend.repository("other"), topic)
    return task


def of_another_topic(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that is held, but of another topic."""
    assert topic != "other"
    run(backend, repository.initialize, "other")
    [task] = held(backend, repository, "other", "a")
    return task


def without_token(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that is held, named without its token."""
    [task] = held(backend, repository, topic, "a")
    return Task(task.sequence, task.identifier)


def with_future_token(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that is held, named with a token that nobody has got yet."""
    [task] = held(backend, repository, topic, "a")
    return Task(task.sequence, task.identifier, token=task.token + 1)


def expired(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task whose lease ended."""
    [task] = held(backend, repository, topic, "a", lease=MINUTE)
    end_leases(backend)
    run(backend, repository.expire, HOUR)
    return task


def decided(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that is completed already."""
    [task] = held(backend, repository, topic, "a")
    complete(backend, repository, topic, task)
    return task


def deleted(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that was completed and purged."""
    task = decided(backend, repository, topic)
    run(backend, repository.purge, topic)
    return task


def released(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that was given back."""
    [task] = held(backend, repository, topic, "a")
    run(backend, repository.release, topic, [task])
    return task


def ejected(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that somebody else took over."""
    [task] = held(backend, repository, topic, "a")
    run(backend, backend.repository("other").eject, topic, task)
    return task


def ejected_by_the_same_owner(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that another thread of the same owner took over."""
    [task] = held(backend, repository, topic, "a")
    run(backend, repository.eject, topic, task)
    return task


def polled_again_under_the_same_name(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that expired and was reset, then polled by a restarted process of the same name."""
    task = expired(backend, repository, topic)
    run(backend, repository.recreate, topic, Revivification.RESET, [task])
    poll(backend, repository, topic)
    return task


def recreated(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that a new one stands for."""
    task = decided(backend, repository, topic)
    run(backend, repository.recreate, topic, Revivification.APPEND, [task])
    return task


def redundant(backend: Backend, repository: Repository, topic: str) -> Task:
    """A task that was completed and then replaced."""
    task = decided(backend, repository, topic)
    push(backend, repository, topic, "a", insertion=Insertion.REPLACE)
    return task


SCENES: list[Scene] = [
    never_polled,
    missing,
    of_another_owner,
    of_another_topic,
    without_token,
    with_future_token,
    expired,
    decided,
    deleted,
    released,
    ejected,
    ejected_by_the_same_owner,
    polled_again_under_the_same_name,
    recreated,
    redundant,
]


@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_only_the_present_holder_may(backend: Backend, repository: Repository, topic: str, scene: Scene) -> None:
    """
    What is not held by this owner with this token is lost, nothing changes, and the transaction goes on.

    CO-03, CO-04, CO-05, CO-06, CO-B2, CO-B3.
    """
    task = scene(backend, repository, topic)
    before = [without(it) for it in run(backend, repository.page, topic)]
    with backend.begin() as tx:
        for call in CALLS.values():
            with pytest.raises(LostTaskError) as lost:
                call(tx, repository, topic, task)
            assert lost.value.tasks == {task}
        witness = repository.push(tx, topic, "witness")

    *after, last = run(backend, repository.page, topic)
    assert ([without(it) for it in after], last) == (before, witness)


def test_an_unknown_topic_holds_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """In a topic that nobody initialised every task is lost (CO-06)."""
    [task] = held(backend, repository, topic, "a")
    with backend.begin() as tx:
        for call in CALLS.values():
            with pytest.raises(LostTaskError):
                call(tx, repository, "unknown", task)
        repository.complete(tx, topic, task)

    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


BATCHES: dict[str, Callable[[Transaction, Repository, str, list[Task]], object]] = {
    "complete": lambda tx, repository, topic, tasks: repository.complete_many(
        tx, topic, dict.fromkeys(tasks, TaskDecision.SUCCESS)
    ),
    "release": lambda tx, repository, topic, tasks: repository.release(tx, topic, tasks),
    "extend": lambda tx, repository, topic, tasks: repository.extend(tx, topic, iter(tasks), HOUR),
}


@pytest.mark.parametrize("call", BATCHES.values(), ids=BATCHES)
def test_all_or_nothing(
    backend: Backend,
    repository: Repository,
    topic: str,
    call: Callable[[Transaction, Repository, str, list[Task]], object],
) -> None:
    """A batch with lost tasks changes none, also when the error is caught and committed (CO-07, CO-B3)."""
    tasks = held(backend, repository, topic, *"abcd")
    for lost in (tasks[0], tasks[2]):
        run(backend, repository.eject, topic, lost)
    before = [without(it) for it in run(backend, repository.page, topic)]
    with backend.begin() as tx, pytest.raises(LostTaskError) as caught:
        call(tx, repository, topic, tasks)

    assert caught.value.tasks == {tasks[0], tasks[2]}
    assert [without(it) for it in run(backend, repository.page, topic)] == before


@pytest.mark.parametrize("call", BATCHES.values(), ids=BATCHES)
def test_no_tasks_are_no_error(
    backend: Backend,
    repository: Repository,
    topic: str,
    call: Callable[[Transaction, Repository, str, list[Task]], object],
) -> None:
    """Empty batches change nothing (CO-02)."""
    [task] = held(backend, repository, topic, "a")
    before = without(info(backend, repository, topic, task))
    run(backend, call, repository, topic, [])

    assert without(info(backend, repository, topic, task)) == before


@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize("call", BATCHES.values(), ids=BATCHES)
def test_thousands_at_once(
    backend: Backend,
    repository: Repository,
    topic: str,
    call: Callable[[Transaction, Repository, str, list[Task]], object],
) -> None:
    """Batches are as large as one likes (CO-07)."""
    tasks = held(backend, repository, topic, *map(str, range(5000)))
    run(backend, call, repository, topic, tasks)

    [(changed,)] = backend.sql("SELECT count(*) FROM task WHERE state <> 0 OR lease IS NOT NULL")
    assert changed == 5000

"""Pushes that find their task present already."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from task_api import (
    Insertion,
    Revivification,
    Task,
    TaskCreation,
    TaskState,
    TaskStateError,
    UnknownTopicError,
)
from tests.backends import Backend
from tests.backends.steps import complete, poll, push, states
from tests.conformance.scenes import Repository, one_of_each

UNIQUE = Insertion.UNIQUE


@pytest.mark.kinds("driver", "plain")
def test_only_what_is_absent_is_pushed(backend: Backend, repository: Repository, topic: str) -> None:
    """A task in any state counts as present, except REDUNDANT and RECREATED ones (S2-17)."""
    tasks = one_of_each(backend, repository, topic)
    with backend.begin() as tx:  # what RECREATED and REDUNDANT ones gave way to
        repository.purge(tx, topic, states=[TaskState.READY], first=tasks[TaskState.RECREATED].sequence)
    before = states(backend, repository, topic)
    names = [state.name for state in TaskState]
    with backend.begin() as tx:
        pushed = repository.push_many(tx, topic, names, insertion=UNIQUE)

    fresh = {task.identifier for task in pushed if task.sequence not in before}
    assert fresh == {"RECREATED", "REDUNDANT"}
    kept = [task for task in pushed if task.identifier not in fresh]
    assert kept == [tasks[TaskState[task.identifier]] for task in kept]
    after = states(backend, repository, topic)
    assert {sequence: after[sequence] for sequence in before} == before
    assert len(after) == len(before) + 2


def test_what_is_present_is_returned_as_it_is(backend: Backend, repository: Repository, topic: str) -> None:
    """Its input is the stored one, its attempt and token too; the given input is not stored."""
    push(backend, repository, topic, "a", input="old")
    [polled] = poll(backend, repository, topic)
    with backend.begin() as tx:
        found = repository.push(tx, topic, TaskCreation("a", "new"), insertion=UNIQUE)
    assert (found, found.input, found.attempt, found.token) == (polled, "old", 1, 1)
    complete(backend, repository, topic, polled)
    with backend.begin() as tx:
        assert repository.push(tx, topic, "a", insertion=UNIQUE) == polled


def test_the_last_of_several_is_returned(backend: Backend, repository: Repository, topic: str) -> None:
    """Where an identifier has several tasks, it is the one with the highest sequence."""
    push(backend, repository, topic, "a", "a", "b")
    with backend.begin() as tx:
        found = repository.push(tx, topic, "a", insertion=UNIQUE)
    assert list(states(backend, repository, topic))[1] == found.sequence


def test_duplicates_of_a_push_are_one(backend: Backend, repository: Repository, topic: str) -> None:
    """The first of a batch is stored, and returned for all."""
    with backend.begin() as tx:
        creations = [TaskCreation("a", "1"), TaskCreation("b"), TaskCreation("a", "2")]
        first, other, again = repository.push_many(tx, topic, creations, insertion=UNIQUE)
    assert (first, first.input) == (again, "1")
    assert first < other
    assert len(states(backend, repository, topic)) == 2


def test_an_unknown_topic_is_refused(backend: Backend, repository: Repository) -> None:
    """As with any other push; the transaction stays usable."""
    with backend.begin() as tx:
        with pytest.raises(UnknownTopicError):
            repository.push(tx, "nowhere", "a", insertion=UNIQUE)
        assert repository.topics(tx) == set()


@pytest.mark.kinds("driver")
def test_of_many_at_once_one_is_pushed(backend: Backend, repository: Repository, topic: str) -> None:
    """Whoever comes second waits for the first, and finds its task (S3-02)."""
    names = [str(number) for number in range(20)]
    for _ in range(5):
        barrier = Barrier(4)

        def rush(barrier: Barrier = barrier) -> list[Task]:
            barrier.wait(60)
            with backend.begin() as tx:
                return repository.push_many(tx, topic, names, insertion=UNIQUE)

        with ThreadPoolExecutor(4) as pool:
            results = [rushed.result(120) for rushed in [pool.submit(rush) for _ in range(4)]]
        assert all(result == results[0] for result in results)
        assert len(states(backend, repository, topic)) == len(names)
        with backend.begin() as tx:
            repository.purge_all(tx, topic)


@pytest.mark.kinds("driver", "plain")
def test_what_is_present_needs_nothing_to_wait_for(backend: Backend, repository: Repository, topic: str) -> None:
    """A request that is repeated finds its task, also when the one that it was to wait for was recreated since."""
    [before] = push(backend, repository, topic, "before", suspended=True)
    creation = TaskCreation("then", after=(before,))
    with backend.begin() as tx:
        then = repository.push(tx, topic, creation, insertion=UNIQUE)
        repository.recreate(tx, topic, Revivification.APPEND, [before])
    with backend.begin() as tx:
        assert repository.push(tx, topic, creation, insertion=UNIQUE) == then
        with pytest.raises(TaskStateError):
            repository.push(tx, topic, TaskCreation("other", after=(before,)), insertion=UNIQUE)
        assert [task.identifier for task in repository.page(tx, topic)] == ["before", "then", "before"]

"""Purging tasks and owners, destroying topics (section 10 of BEHAVIOURS.md)."""

from datetime import timedelta

import pytest

from task_api import (
    FINISHED,
    INCEPTION,
    InvalidTaskError,
    LostTaskError,
    Task,
    TaskDecision,
    TaskResult,
    TaskState,
)
from tests.backends import Backend
from tests.backends.steps import complete, poll, push, states
from tests.conformance.scenes import Repository, one_of_each, run

TIMEOUT = timedelta(minutes=1)


def failed(backend: Backend, repository: Repository, topic: str, *identifiers: str) -> list[Task]:
    """Tasks that failed."""
    push(backend, repository, topic, *identifiers)
    tasks = poll(backend, repository, topic, len(identifiers))
    complete(backend, repository, topic, tasks, TaskDecision.FAILURE)
    return tasks


def test_the_default_purge_takes_what_is_finished(backend: Backend, repository: Repository, topic: str) -> None:
    """Nothing that waits for somebody goes: SUSPENDED and EXPIRED only when named (PU-01, PU-02, PU-B5)."""
    tasks = one_of_each(backend, repository, topic)
    before = states(backend, repository, topic)

    assert run(backend, repository.purge, topic) == len(FINISHED)
    assert states(backend, repository, topic) == {
        sequence: state for sequence, state in before.items() if state not in FINISHED
    }
    assert set(tasks) - FINISHED == {
        TaskState.ACTIVE,
        TaskState.READY,
        TaskState.EXPIRED,
        TaskState.SUSPENDED,
    }


def test_a_state_is_purged_when_named(backend: Backend, repository: Repository, topic: str) -> None:
    """Exactly that state goes, READY, EXPIRED and SUSPENDED included (PU-02, PU-03)."""
    one_of_each(backend, repository, topic)
    left = states(backend, repository, topic)

    for state in sorted(set(TaskState) - {TaskState.ACTIVE}):
        purged = run(backend, repository.purge, topic, states={state})
        assert purged == list(left.values()).count(state)
        left = {sequence: other for sequence, other in left.items() if other is not state}
        assert states(backend, repository, topic) == left


def test_no_states_purge_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """An empty collection is none, not all (PU-03)."""
    failed(backend, repository, topic, "a")

    assert run(backend, repository.purge, topic, states=()) == 0
    assert len(states(backend, repository, topic)) == 1


def test_active_tasks_are_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """Their owner could not decide them any more; the refusal names the state (PU-03, PU-B6)."""
    tasks = one_of_each(backend, repository, topic, [TaskState.ACTIVE, TaskState.FAILED])

    with backend.begin() as tx, pytest.raises(InvalidTaskError, match="ACTIVE"):
        repository.purge(tx, topic, states=set(TaskState))

    assert states(backend, repository, topic) == {task.sequence: state for state, task in tasks.items()}


def test_the_range_is_inclusive(backend: Backend, repository: Repository, topic: str) -> None:
    """Both bounds are purged, with states or without (PU-01, PU-03, PU-B2)."""
    sequences = [task.sequence for task in failed(backend, repository, topic, *"abcdefg")]

    by_default = run(backend, repository.purge, topic, first=sequences[1], last=sequences[2])
    by_state = run(backend, repository.purge, topic, states={TaskState.FAILED}, first=sequences[4], last=sequences[5])

    assert (by_default, by_state) == (2, 2)
    assert list(states(backend, repository, topic)) == [sequences[n] for n in (0, 3, 6)]


def test_up_to_inception_is_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """A range that ends before every task, or before its start, is empty (PU-04)."""
    (task,) = failed(backend, repository, topic, "a")

    with backend.begin() as tx:
        assert repository.purge(tx, topic, last=INCEPTION) == 0
        assert repository.purge(tx, topic, states={TaskState.FAILED}, last=INCEPTION) == 0
        assert repository.purge(tx, topic, first=task.sequence + 1, last=task.sequence) == 0

    assert list(states(backend, repository, topic)) == [task.sequence]


def test_other_and_unknown_topics_are_left_alone(backend: Backend, repository: Repository, topic: str) -> None:
    """A purge is of one topic; an unknown one has nothing to purge (PU-01, TO-03)."""
    run(backend, repository.initialize, "other")
    (elsewhere,) = failed(backend, repository, "other", "a")

    with backend.begin() as tx:
        assert repository.purge(tx, topic) == 0
        assert repository.purge(tx, "unknown") == 0
        repository.purge_all(tx, "unknown")
        repository.purge_all(tx, topic)

    assert list(states(backend, repository, "other")) == [elsewhere.sequence]


@pytest.mark.backends("postgresql", "oracle")
def test_a_purge_skips_rows_locked_elsewhere(backend: Backend, repository: Repository, topic: str) -> None:
    """It does not wait for a transaction that changes a task right now (PU-05)."""
    locked, _ = failed(backend, repository, topic, "a", "b")
    other = backend.open()
    repository.reassign(other, topic, {locked: TaskResult.SUCCESS})

    assert run(backend, repository.purge, topic) == 1
    assert list(states(backend, repository, topic)) == [locked.sequence]


def test_purge_all_takes_every_state_and_keeps_the_topic(backend: Backend, repository: Repository, topic: str) -> None:
    """The topic stays initialised, and a holder learns that its task is gone (PU-06, PA-05)."""
    one_of_each(backend, repository, topic)
    push(backend, repository, topic, "held")
    (held, *_) = poll(backend, repository, topic)

    run(backend, repository.purge_all, topic)

    assert states(backend, repository, topic) == {}
    with pytest.raises(LostTaskError):
        complete(backend, repository, topic, held)
    (task,) = push(backend, repository, topic, "new")
    assert poll(backend, repository, topic) == [task]


@pytest.mark.backends("postgresql", "oracle")
def test_purge_all_is_an_ordinary_change(backend: Backend, repository: Repository, topic: str) -> None:
    """While it is uncommitted others still see the tasks and work on other topics (PU-B4, PA-05)."""
    run(backend, repository.initialize, "other")
    (task,) = failed(backend, repository, topic, "a")
    tx = backend.open()
    repository.purge_all(tx, topic)

    assert list(states(backend, repository, topic)) == [task.sequence]
    push(backend, repository, "other", "b")
    push(backend, repository, topic, "c")


def test_a_rollback_undoes_every_purge(backend: Backend, repository: Repository, topic: str) -> None:
    """Purging, purging all and destroying belong to the caller's transaction (PU-B4, P7)."""
    failed(backend, repository, topic, "a")
    run(backend, repository.activate, topic, active=True)
    backend.repository("idle")
    backend.age_owner("idle", 3600)
    before = states(backend, repository, topic)

    for erase in (repository.purge, repository.purge_all, repository.destroy):
        tx = backend.open()
        erase(tx, topic)
        assert repository.page(tx, topic) == []
        backend.close(tx)
    tx = backend.open()
    assert repository.purge_owners(tx, TIMEOUT) == 1
    backend.close(tx)

    assert states(backend, repository, topic) == before
    assert run(backend, repository.topics) == {topic}
    assert run(backend, repository.activation, topic) is True
    assert run(backend, repository.purge_owners, TIMEOUT) == 1


def test_destroy_forgets_the_topic(backend: Backend, repository: Repository, topic: str) -> None:
    """True once, false afterwards; tasks and activation are gone, and it can be initialised again (PU-07)."""
    one_of_each(backend, repository, topic)
    run(backend, repository.activate, topic, active=False)

    assert [run(backend, repository.destroy, topic) for _ in range(2)] == [True, False]
    assert run(backend, repository.topics) == set()
    assert run(backend, repository.page, topic) == []
    assert run(backend, repository.activation, topic) is None
    assert run(backend, repository.initialize, topic) is True
    (task,) = push(backend, repository, topic, "new")
    assert states(backend, repository, topic) == {task.sequence: TaskState.READY}


def test_destroying_an_unknown_topic_leaves_the_transaction_usable(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Neither it nor purging one aborts what the caller has begun (PU-07, PU-B3)."""
    with backend.begin() as tx:
        assert repository.destroy(tx, "unknown") is False
        repository.purge_all(tx, "unknown")
        repository.push(tx, topic, "a")

    assert len(states(backend, repository, topic)) == 1


def test_destroy_and_initialise_in_one_transaction(backend: Backend, repository: Repository, topic: str) -> None:
    """The sequence of calls counts, not the commits (PU-07)."""
    push(backend, repository, topic, "old")

    with backend.begin() as tx:
        assert repository.destroy(tx, topic) is True
        assert repository.initialize(tx, topic) is True
        new = repository.push(tx, topic, "new")

    assert list(states(backend, repository, topic)) == [new.sequence]


def test_idle_owners_are_purged(backend: Backend, repository: Repository, topic: str) -> None:
    """Others that stopped beating and own no task, though never-polled tasks exist (PU-08, PU-B1)."""
    push(backend, repository, topic, "never polled", "polled")
    for owner, age in {"me": 3600, "fresh": 0, "idle": 3600, "idle too": 61, "busy": 3600}.items():
        other = backend.repository(owner)
        if owner == "busy":
            complete(backend, other, topic, poll(backend, other, topic))
        backend.age_owner(owner, age)

    assert run(backend, repository.purge_owners, TIMEOUT) == 2
    assert set(backend.sql("SELECT owner FROM task_owner")) == {("me",), ("fresh",), ("busy",)}
    run(backend, repository.purge_all, topic)
    assert run(backend, repository.purge_owners, TIMEOUT) == 1


def test_a_negative_timeout_is_refused(backend: Backend, repository: Repository) -> None:
    """It is a mistake of the caller (PU-08, OW-07)."""
    with pytest.raises(InvalidTaskError, match="timeout"):
        run(backend, repository.purge_owners, -TIMEOUT)

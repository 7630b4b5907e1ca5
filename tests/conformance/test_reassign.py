"""Reassigning results, by name and by state (section 7 of BEHAVIOURS.md)."""

from datetime import UTC, datetime, timedelta

import oracledb
import psycopg
import pytest

from task_api import (
    REVIVABLE,
    InvalidTaskError,
    Task,
    TaskDecision,
    TaskInfo,
    TaskResult,
    TaskState,
    TaskStateError,
)
from tests.backends import Backend
from tests.backends.steps import complete, info, poll, push, states
from tests.conformance.scenes import Repository, one_of_each, run
from tests.contention.plain_sql import hurry

SOURCES = sorted(REVIVABLE)
UNASSIGNABLE = sorted(set(TaskState) - REVIVABLE)
LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)

every_result = pytest.mark.parametrize("result", TaskResult, ids=lambda result: result.name)


def failed(backend: Backend, repository: Repository, topic: str, *identifiers: str) -> list[Task]:
    """Tasks that failed with the output ``boom``."""
    push(backend, repository, topic, *identifiers)
    tasks = poll(backend, repository, topic, len(identifiers))
    complete(backend, repository, topic, tasks, TaskDecision.failure("boom"))
    return tasks


@every_result
def test_every_source_takes_every_result(
    backend: Backend, repository: Repository, topic: str, result: TaskResult
) -> None:
    """EXPIRED to SUCCEEDED become the result's state, descent what they left (RA-01, RA-03, RA-04)."""
    tasks = one_of_each(backend, repository, topic, SOURCES)

    run(backend, repository.reassign, topic, dict.fromkeys(tasks.values(), result))

    found = [info(backend, repository, topic, task) for task in tasks.values()]
    assert [(task.state, task.descent) for task in found] == [(result.state, source) for source in tasks]


def test_each_task_gets_its_own_result(backend: Backend, repository: Repository, topic: str) -> None:
    """One call may give different results (RA-01)."""
    tasks = failed(backend, repository, topic, *"abcd")
    results = dict(zip(tasks, TaskResult, strict=True))

    run(backend, repository.reassign, topic, results)

    found = states(backend, repository, topic)
    assert found == {task.sequence: result.state for task, result in results.items()}


def test_unassignable_tasks_refuse_the_whole_call(backend: Backend, repository: Repository, topic: str) -> None:
    """READY, ACTIVE, RECREATED, REDUNDANT and missing ones are named, none changes (RA-01, RA-02, TO-03)."""
    tasks = one_of_each(backend, repository, topic)
    wrong = {*(tasks[state] for state in UNASSIGNABLE), Task(999_999, "missing")}
    before = states(backend, repository, topic)

    with backend.begin() as tx:
        with pytest.raises(TaskStateError, match="ACTIVE") as caught:
            repository.reassign(tx, topic, dict.fromkeys([*tasks.values(), *wrong], TaskResult.FILTER))
        repository.push(tx, topic, "the transaction goes on")

    assert caught.value.tasks == wrong
    after = states(backend, repository, topic)
    assert after.popitem()[1] is TaskState.READY
    assert after == before


def test_the_record_stays(backend: Backend, repository: Repository, topic: str) -> None:
    """Output, owner, attempt and times are unchanged (RA-03)."""
    (task,) = failed(backend, repository, topic, "a")
    before = info(backend, repository, topic, task)

    run(backend, repository.reassign, topic, {task: TaskResult.SUCCESS})

    after = info(backend, repository, topic, task)
    assert record(after) == record(before)
    assert (after.output, after.owner) == ("boom", "me")


def record(task: TaskInfo) -> tuple[object, ...]:
    """What reassigning leaves alone."""
    return task.output, task.owner, task.attempt, task.created, task.polled, task.completed, task.input


def test_reassigning_to_the_present_state_changes_descent_alone(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """It succeeds, and descent is at least that state (RA-04)."""
    (task,) = failed(backend, repository, topic, "a")
    before = info(backend, repository, topic, task)

    run(backend, repository.reassign, topic, {task: TaskResult.FAILURE})

    after = info(backend, repository, topic, task)
    assert (after.state, after.descent, record(after)) == (before.state, TaskState.FAILED, record(before))


def test_an_empty_map_is_a_no_op(backend: Backend, repository: Repository, topic: str) -> None:
    """Nothing to reassign is nothing to refuse, even in an unknown topic (RA-07)."""
    failed(backend, repository, topic, "a")
    before = states(backend, repository, topic)

    run(backend, repository.reassign, "unknown", {})
    run(backend, repository.reassign, topic, {})

    assert states(backend, repository, topic) == before


def test_anybody_may_reassign(backend: Backend, repository: Repository, topic: str) -> None:
    """Ownership is not checked, nor is registration needed (RA-08)."""
    one, two = failed(backend, repository, topic, "a", "b")
    stranger = backend.repository("stranger", register=False)

    run(backend, stranger.reassign, topic, {one: TaskResult.SUCCESS})
    run(backend, stranger.reassign_all, topic, TaskState.FAILED, TaskResult.FILTER)

    found = [info(backend, repository, topic, task) for task in (one, two)]
    assert [(task.state, task.owner) for task in found] == [
        (TaskState.SUCCEEDED, "me"),
        (TaskState.FILTERED, "me"),
    ]


def test_an_expired_task_gets_a_completion(backend: Backend, repository: Repository, topic: str) -> None:
    """Reassigning completes it now, so that dated results count it (RA-B2)."""
    *named, by_state = push(backend, repository, topic, *"abcde")
    ghost = backend.repository("ghost")
    poll(backend, ghost, topic, 5)
    backend.age_owner("ghost", 3600)
    run(backend, repository.expire, timedelta(minutes=1))

    run(backend, repository.reassign, topic, dict(zip(named, TaskResult, strict=True)))
    run(backend, repository.reassign_all, topic, TaskState.EXPIRED, TaskResult.SUCCESS)

    for task in (*named, by_state):
        found = info(backend, repository, topic, task)
        assert found.completed is not None
        assert found.completed >= found.created
    expected = dict.fromkeys(TaskResult, 1) | {TaskResult.SUCCESS: 2}
    assert run(backend, repository.results, since=LONG_AGO) == {topic: expected}


def test_a_new_result_ends_an_old_due_time(backend: Backend, repository: Repository, topic: str) -> None:
    """A task that was due comes back by itself only while it keeps its state (RA-03, RA-04)."""
    kept, named, by_state = push(backend, repository, topic, *"abc", due=timedelta(hours=-1))

    run(backend, repository.reassign, topic, {kept: TaskResult.SUSPENSION, named: TaskResult.FAILURE})
    first = by_state.sequence
    run(backend, repository.reassign_all, topic, TaskState.SUSPENDED, TaskResult.FAILURE, first=first)
    run(backend, repository.reassign, topic, dict.fromkeys([named, by_state], TaskResult.SUSPENSION))

    assert run(backend, repository.promote, topic) == 1
    assert info(backend, repository, topic, kept).state is TaskState.READY


def test_all_of_a_state_are_moved_and_counted(backend: Backend, repository: Repository, topic: str) -> None:
    """Every task of the state and topic, and no other; a second call finds none (RA-05)."""
    tasks = failed(backend, repository, topic, *"abc")
    others = one_of_each(backend, repository, topic, [TaskState.SUCCEEDED, TaskState.SUSPENDED, TaskState.READY])
    run(backend, repository.initialize, "other")
    (elsewhere,) = failed(backend, repository, "other", "a")

    counts = [run(backend, repository.reassign_all, topic, TaskState.FAILED, TaskResult.FILTER) for _ in range(2)]

    assert counts == [3, 0]
    expected = dict.fromkeys((task.sequence for task in tasks), TaskState.FILTERED)
    expected |= {task.sequence: state for state, task in others.items()}
    assert states(backend, repository, topic) == expected
    assert states(backend, repository, "other") == {elsewhere.sequence: TaskState.FAILED}
    assert info(backend, repository, topic, tasks[0]).descent is TaskState.FAILED


def test_all_in_an_inclusive_range(backend: Backend, repository: Repository, topic: str) -> None:
    """Both bounds belong to the range (RA-05)."""
    tasks = failed(backend, repository, topic, *"abcde")
    first, last = tasks[1].sequence, tasks[3].sequence

    with backend.begin() as tx:
        count = repository.reassign_all(tx, topic, TaskState.FAILED, TaskResult.SUCCESS, first=first, last=last)

    assert count == 3
    moved, left = TaskState.SUCCEEDED, TaskState.FAILED
    assert list(states(backend, repository, topic).values()) == [left, moved, moved, moved, left]


def test_nothing_to_do_is_zero(backend: Backend, repository: Repository, topic: str) -> None:
    """The same state, an empty range and an unknown topic are no work (RA-06, TO-03)."""
    (task,) = failed(backend, repository, topic, "a")

    with backend.begin() as tx:
        assert repository.reassign_all(tx, topic, TaskState.FAILED, TaskResult.FAILURE) == 0
        assert repository.reassign_all(tx, topic, TaskState.FAILED, TaskResult.FILTER, first=9, last=8) == 0
        assert repository.reassign_all(tx, "unknown", TaskState.FAILED, TaskResult.FILTER) == 0

    assert info(backend, repository, topic, task).descent is TaskState.READY


def test_other_source_states_are_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """Only EXPIRED to SUCCEEDED can be reassigned (RA-01, RA-05)."""
    with backend.begin() as tx:
        for state in UNASSIGNABLE:
            with pytest.raises(InvalidTaskError, match=state.name):
                repository.reassign_all(tx, topic, state, TaskResult.SUCCESS)


@pytest.mark.backends("postgresql", "oracle")
def test_all_may_skip_rows_locked_elsewhere(backend: Backend, repository: Repository, topic: str) -> None:
    """With skip_locked the call does not wait and leaves them (RA-B1)."""
    locked, free = failed(backend, repository, topic, "a", "b")
    other = backend.open()
    repository.reassign(other, topic, {locked: TaskResult.SUCCESS})

    moved = run(backend, repository.reassign_all, topic, TaskState.FAILED, TaskResult.FILTER, skip_locked=True)

    assert moved == 1
    assert info(backend, repository, topic, free).state is TaskState.FILTERED


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.kinds("driver", "plain")
def test_all_waits_for_locked_rows_by_default(backend: Backend, repository: Repository, topic: str) -> None:
    """Unless told to skip, the call means every task (RA-05, RA-B1)."""
    tasks = failed(backend, repository, topic, "a", "b")
    other = backend.open()
    repository.reassign(other, topic, {tasks[0]: TaskResult.SUCCESS})

    tx = backend.open()
    hurry(tx)

    with pytest.raises((psycopg.errors.LockNotAvailable, oracledb.Error)):
        repository.reassign_all(tx, topic, TaskState.FAILED, TaskResult.FILTER)


@pytest.mark.parametrize("by_state", [False, True], ids=["named", "all"])
def test_a_reason_is_appended_to_the_output(
    backend: Backend, repository: Repository, topic: str, *, by_state: bool
) -> None:
    """The message stands after the output, or alone where there was none (RA-B3)."""
    (loud,) = failed(backend, repository, topic, "loud")
    push(backend, repository, topic, "silent")
    (silent,) = poll(backend, repository, topic)
    complete(backend, repository, topic, silent, TaskDecision.FAILURE)

    if by_state:
        run(
            backend,
            repository.reassign_all,
            topic,
            TaskState.FAILED,
            TaskResult.SUCCESS,
            message="paid\0 by hand",
        )
    else:
        results = dict.fromkeys([loud, silent], TaskResult.SUCCESS)
        run(backend, repository.reassign, topic, results, message="paid\0 by hand")

    first, second = (info(backend, repository, topic, task).output or "" for task in (loud, silent))
    assert first.splitlines() == ["boom", *second.splitlines()]
    assert (second.startswith("paid"), second.endswith(" by hand")) == (True, True)
    assert "\0" not in second


def test_a_rollback_undoes_a_reassignment(backend: Backend, repository: Repository, topic: str) -> None:
    """The caller owns the transaction (RA-01, RA-05, P7)."""
    one, _ = failed(backend, repository, topic, "a", "b")
    before = states(backend, repository, topic)

    tx = backend.open()
    repository.reassign(tx, topic, {one: TaskResult.SUCCESS}, message="why")
    repository.reassign_all(tx, topic, TaskState.FAILED, TaskResult.FILTER)
    backend.close(tx)

    assert states(backend, repository, topic) == before

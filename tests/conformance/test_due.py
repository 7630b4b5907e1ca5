"""Due times: creation, suspension, retry, promote and next_due (DESIGN 3)."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from task_api import Insertion, InvalidTaskError, Revivification, Task, TaskCreation, TaskDecision, TaskState
from tests.backends import Backend
from tests.backends.steps import complete, info, poll, push, states
from tests.conformance.scenes import Repository, run

READY, SUSPENDED = TaskState.READY, TaskState.SUSPENDED
HOUR = timedelta(hours=1)
NOW = timedelta(0)
MOMENT = datetime(2100, 2, 28, 23, 59, 59, 123_000, tzinfo=UTC)
PAST = datetime(2000, 2, 29, tzinfo=UTC)


def held(backend: Backend, repository: Repository, topic: str, *identifiers: str) -> list[Task]:
    """Push tasks and poll them."""
    push(backend, repository, topic, *identifiers)
    return poll(backend, repository, topic, len(identifiers))


@pytest.mark.parametrize("suspended", [False, True], ids=["not suspended", "suspended"])
def test_a_creation_with_a_due_time_is_suspended(
    *, backend: Backend, repository: Repository, topic: str, suspended: bool
) -> None:
    """It waits for its time, the flag given or not (IN-07)."""
    [task] = push(backend, repository, topic, "a", due=MOMENT, suspended=suspended)
    stored = info(backend, repository, topic, task)

    assert (stored.state, stored.due, stored.completed) == (SUSPENDED, MOMENT, None)


@pytest.mark.parametrize("hours", [-11, 0, 5.5, 14])
def test_a_moment_is_stored_whatever_its_offset(
    backend: Backend, repository: Repository, topic: str, hours: float
) -> None:
    """Given times are converted to UTC, fractions of a second kept (ST-15)."""
    zone = timezone(timedelta(hours=hours))
    [task] = push(backend, repository, topic, "a", due=MOMENT.astimezone(zone))

    assert info(backend, repository, topic, task).due == MOMENT


@pytest.mark.parametrize("due", [timedelta(milliseconds=1500), HOUR, -HOUR], ids=str)
def test_a_time_span_counts_from_now(backend: Backend, repository: Repository, topic: str, due: timedelta) -> None:
    """It starts at the push, by the database's clock (ST-15)."""
    [task] = push(backend, repository, topic, "a", due=due)
    stored = info(backend, repository, topic, task)

    assert stored.due is not None
    assert abs(stored.due - stored.created - due) < timedelta(milliseconds=50)


@pytest.mark.parametrize("due", [PAST, -HOUR, NOW], ids=["past", "ago", "now"])
def test_a_past_due_time_waits_for_the_next_promote(
    backend: Backend, repository: Repository, topic: str, due: datetime | timedelta
) -> None:
    """It is SUSPENDED like any other until somebody promotes it (PO-02)."""
    [task] = push(backend, repository, topic, "a", due=due)
    before = (info(backend, repository, topic, task).state, poll(backend, repository, topic))
    promoted = run(backend, repository.promote, topic)
    after = (info(backend, repository, topic, task).state, poll(backend, repository, topic))

    assert (before, promoted, after) == ((SUSPENDED, []), 1, (READY, [task]))


def test_only_what_is_due_is_promoted(backend: Backend, repository: Repository, topic: str) -> None:
    """Tasks of the future, without due time, in other topics or states stay (ST-11)."""
    run(backend, repository.initialize, "other")
    push(backend, repository, "other", "a", due=NOW)
    [redundant] = push(backend, repository, topic, "r", due=NOW)
    push(backend, repository, topic, "r", due=HOUR, insertion=Insertion.REPLACE)
    push(backend, repository, topic, "b", due=HOUR)
    push(backend, repository, topic, "c", suspended=True)
    due = push(backend, repository, topic, "d", "e", due=NOW)
    before = states(backend, repository, topic)
    numbers = [run(backend, repository.promote, topic) for _ in range(2)]

    assert numbers == [2, 0]
    assert states(backend, repository, topic) == before | {task.sequence: READY for task in due}
    assert before[redundant.sequence] is TaskState.REDUNDANT
    assert list(states(backend, repository, "other").values()) == [SUSPENDED]


def test_an_unknown_topic_has_nothing_to_promote(backend: Backend, repository: Repository) -> None:
    """It is no error (PO-07)."""
    found = [run(backend, call, "unknown") for call in (repository.promote, repository.next_due)]

    assert found == [0, None]


def test_promoted_tasks_keep_their_place(backend: Backend, repository: Repository, topic: str) -> None:
    """The sequence decides, not the due time (PO-04)."""
    first = push(backend, repository, topic, "a", due=-HOUR)
    second = push(backend, repository, topic, "b", due=-2 * HOUR)
    third = push(backend, repository, topic, "c")
    run(backend, repository.promote, topic)

    assert poll(backend, repository, topic, 10) == [*first, *second, *third]


@pytest.mark.kinds("driver", "plain")
def test_thousands_are_promoted_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """All that is due comes with one call (PO-05)."""
    tasks = push(backend, repository, topic, *map(str, range(5000)), due=NOW)

    assert run(backend, repository.promote, topic) == 5000
    assert poll(backend, repository, topic, 5000) == tasks


DECISIONS: dict[str, Callable[[datetime | timedelta, str], TaskDecision]] = {
    "retry": TaskDecision.retry,
    "suspension": lambda due, message: TaskDecision.suspension(message, due),
}


@pytest.mark.parametrize("make", DECISIONS.values(), ids=DECISIONS)
@pytest.mark.parametrize("due", [MOMENT, NOW], ids=["moment", "span"])
def test_a_decision_with_a_due_time_suspends(
    *,
    backend: Backend,
    repository: Repository,
    topic: str,
    make: Callable[[datetime | timedelta, str], TaskDecision],
    due: datetime | timedelta,
) -> None:
    """A retry or suspension is stored SUSPENDED with due time and output (CO-01)."""
    [task] = held(backend, repository, topic, "a")
    complete(backend, repository, topic, task, make(due, "busy"))
    stored = info(backend, repository, topic, task)

    assert (stored.state, stored.output, stored.attempt, stored.owner) == (SUSPENDED, "busy", 1, "me")
    assert stored.completed is not None
    assert stored.due == (MOMENT if due == MOMENT else stored.due)
    assert stored.due is not None


def test_decisions_of_one_batch_have_their_own_due_times(backend: Backend, repository: Repository, topic: str) -> None:
    """Moments, spans and none in one call do not mix (CO-08)."""
    tasks = held(backend, repository, topic, *"abcde")
    decisions = [
        TaskDecision.retry(MOMENT),
        TaskDecision.FAILURE,
        TaskDecision.suspension(due=MOMENT + HOUR),
        TaskDecision.SUSPENSION,
        TaskDecision.retry(NOW),
    ]
    run(backend, repository.complete_many, topic, dict(zip(tasks, decisions, strict=True)))
    stored = [info(backend, repository, topic, task) for task in tasks]

    assert [it.state for it in stored] == [SUSPENDED, TaskState.FAILED, SUSPENDED, SUSPENDED, SUSPENDED]
    assert [it.due for it in stored[:4]] == [MOMENT, None, MOMENT + HOUR, None]
    assert run(backend, repository.promote, topic) == 1


def test_a_retry_comes_back_with_its_output_until_it_is_decided_again(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Promoted it is READY at its old place, the next attempt overwrites the output (CO-14)."""
    [task] = held(backend, repository, topic, "a")
    push(backend, repository, topic, "b")
    complete(backend, repository, topic, task, TaskDecision.retry(NOW, "busy"))
    run(backend, repository.promote, topic)
    waiting = info(backend, repository, topic, task)
    [again] = poll(backend, repository, topic)
    complete(backend, repository, topic, again)
    done = info(backend, repository, topic, task)

    assert (waiting.state, waiting.output, again, again.attempt) == (READY, "busy", task, 2)
    assert (done.state, done.output, done.due) == (TaskState.SUCCEEDED, None, None)


def test_a_new_decision_overwrites_an_old_due_time(backend: Backend, repository: Repository, topic: str) -> None:
    """Suspended without due time, a task that once had one is not promoted (DESIGN 3)."""
    [task] = held(backend, repository, topic, "a")
    complete(backend, repository, topic, task, TaskDecision.retry(NOW))
    run(backend, repository.promote, topic)
    complete(backend, repository, topic, poll(backend, repository, topic), TaskDecision.SUSPENSION)

    assert run(backend, repository.promote, topic) == 0
    assert info(backend, repository, topic, task).due is None


OVERWRITES: dict[str, Callable[[Any, Repository, str, Task], object]] = {
    "reset": lambda tx, repository, topic, task: repository.recreate(tx, topic, Revivification.RESET, [task]),
    "junction": lambda tx, repository, topic, task: repository.junction(tx, topic, [[task.identifier]]),
}


@pytest.mark.parametrize("call", OVERWRITES.values(), ids=OVERWRITES)
def test_reset_and_junction_overwrite_a_due_time(
    backend: Backend, repository: Repository, topic: str, call: Callable[[Any, Repository, str, Task], object]
) -> None:
    """The task is READY before its time, and suspended again it waits for nothing (DESIGN 3)."""
    [task] = push(backend, repository, topic, "a", due=HOUR)
    run(backend, call, repository, topic, task)
    stored = info(backend, repository, topic, task)

    assert (stored.state, stored.due) == (READY, None)
    assert run(backend, repository.next_due, topic) is None


def test_the_next_due_time_is_the_earliest_that_waits(backend: Backend, repository: Repository, topic: str) -> None:
    """Only SUSPENDED tasks of the topic count, whether their time has come or not (DESIGN 3)."""
    run(backend, repository.initialize, "other")
    found = [run(backend, repository.next_due, topic)]
    push(backend, repository, "other", "a", due=PAST)
    push(backend, repository, topic, "b", suspended=True)
    found.append(run(backend, repository.next_due, topic))
    for moment in (MOMENT, MOMENT + HOUR, MOMENT - HOUR, PAST):
        push(backend, repository, topic, "c", due=moment)
        found.append(run(backend, repository.next_due, topic))
    run(backend, repository.promote, topic)
    found.append(run(backend, repository.next_due, topic))

    assert found == [None, None, MOMENT, MOMENT, MOMENT - HOUR, PAST, MOMENT - HOUR]


def test_a_rollback_undoes_a_promotion(backend: Backend, repository: Repository, topic: str) -> None:
    """It belongs to the caller's transaction (IN-15)."""
    [task] = push(backend, repository, topic, "a", due=NOW)
    tx = backend.open()
    repository.promote(tx, topic)
    backend.rollback(tx)
    backend.close(tx)

    assert states(backend, repository, topic) == {task.sequence: SUSPENDED}


@pytest.mark.backends("postgresql", "oracle")
def test_promoting_twice_at_once_counts_each_task_once(backend: Backend, repository: Repository, topic: str) -> None:
    """A second promote goes past what an open one promotes (PO-16)."""
    push(backend, repository, topic, *"abc", due=NOW)
    tx = backend.open()
    first = repository.promote(tx, topic)
    second = run(backend, backend.repository("other").promote, topic)
    backend.commit(tx)

    assert (first, second) == (3, 0)


@pytest.mark.parametrize("name", ["", " ", "t" * 251], ids=["empty", "blank", "over-long"])
def test_wrong_topics_are_refused(backend: Backend, repository: Repository, topic: str, name: str) -> None:
    """They are errors before any statement (DESIGN 3)."""
    with backend.begin() as tx:
        for call in (repository.promote, repository.next_due):
            with pytest.raises(InvalidTaskError):
                call(tx, name)
        task = repository.push(tx, topic, "a")

    assert states(backend, repository, topic) == {task.sequence: READY}


@pytest.mark.parametrize(
    "due",
    [timedelta.max, timedelta.min, datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)],
    ids=["longest", "longest ago", "last", "first"],
)
def test_the_farthest_times_do_no_harm(
    backend: Backend, repository: Repository, topic: str, due: datetime | timedelta
) -> None:
    """They are stored or refused, but never break the transaction (IN-B7)."""
    with backend.begin() as tx:
        before = repository.push(tx, topic, "before")
        with suppress(InvalidTaskError):
            repository.push_many(tx, topic, [TaskCreation("a", due=due)])
        after = repository.push(tx, topic, "after")
        stored = repository.page(tx, topic)

    assert (stored[0], stored[-1]) == (before, after)

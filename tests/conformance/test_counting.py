"""Counting tasks and results (section 9 of BEHAVIOURS.md)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from task_api import (
    FINISHED,
    REVIVABLE,
    Counting,
    Insertion,
    Snapshot,
    Summary,
    Task,
    TaskDecision,
    TaskResult,
    TaskState,
)
from tests.backends import Backend
from tests.backends.steps import complete, drive, poll, push
from tests.conformance.scenes import Repository, one_of_each, run, set_time

READY, FAILED, SUCCEEDED = TaskState.READY, TaskState.FAILED, TaskState.SUCCEEDED
NOON = datetime(2024, 5, 17, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

every_snapshot = pytest.mark.parametrize("snapshot", Snapshot, ids=lambda snapshot: snapshot.name)


def test_counts_are_by_topic_and_state_with_the_highest_sequence(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Each state present has its amount and bound (LI-08)."""
    run(backend, repository.initialize, "other")
    a, b, c = push(backend, repository, topic, *"abc")
    (d,) = push(backend, repository, "other", "d")
    drive(backend, repository, topic, a, FAILED)

    assert run(backend, repository.count) == {
        topic: {FAILED: Summary(1, a.sequence), READY: Summary(2, c.sequence)},
        "other": {READY: Summary(1, d.sequence)},
    }
    assert b.sequence < c.sequence


def test_every_state_is_counted(backend: Backend, repository: Repository, topic: str) -> None:
    """TOTAL leaves no row out (LI-08, LI-11)."""
    tasks = one_of_each(backend, repository, topic)

    counted = run(backend, repository.count)[topic]

    assert counted.pop(READY).count == 3  # those left behind by RECREATED and REDUNDANT included
    assert counted == {state: Summary(1, task.sequence) for state, task in tasks.items() if state is not READY}


@every_snapshot
def test_every_topic_appears(backend: Backend, repository: Repository, topic: str, snapshot: Snapshot) -> None:
    """Also those without a match; with a filter only that topic, and none if it is unknown (LI-09)."""
    run(backend, repository.initialize, "other")
    (task,) = push(backend, repository, topic, "a")
    ready = {READY: Summary(1, task.sequence)}

    with backend.begin() as tx:
        assert repository.count(tx, snapshot) == {topic: ready, "other": {}}
        assert repository.count(tx, snapshot, Counting(identifier="z")) == {topic: {}, "other": {}}
        assert repository.count(tx, snapshot, Counting(topic=topic)) == {topic: ready}
        assert repository.count(tx, snapshot, Counting(topic="other")) == {"other": {}}
        assert repository.count(tx, snapshot, Counting(topic="unknown")) == {}


@every_snapshot
def test_the_range_is_inclusive(backend: Backend, repository: Repository, topic: str, snapshot: Snapshot) -> None:
    """Both bounds belong to it; an empty range counts nothing (LI-10)."""
    tasks = push(backend, repository, topic, *"abcde")
    first, last = tasks[1].sequence, tasks[3].sequence

    with backend.begin() as tx:
        assert repository.count(tx, snapshot, first=first, last=last) == {topic: {READY: Summary(3, last)}}
        assert repository.count(tx, snapshot, first=first, last=first) == {topic: {READY: Summary(1, first)}}
        assert repository.count(tx, snapshot, first=last, last=first) == {topic: {}}


@every_snapshot
def test_filters_combine(backend: Backend, repository: Repository, topic: str, snapshot: Snapshot) -> None:
    """Topic, state, reference and identifier must all match (LI-10)."""
    one, two = push(backend, repository, topic, "a", "b", reference="x")
    (three,) = push(backend, repository, topic, "c", reference="y")
    drive(backend, repository, topic, one, FAILED)

    expected = {
        Counting(state=FAILED): {FAILED: Summary(1, one.sequence)},
        Counting(reference="x"): {FAILED: Summary(1, one.sequence), READY: Summary(1, two.sequence)},
        Counting(identifier="c"): {READY: Summary(1, three.sequence)},
        Counting(state=READY, reference="x"): {READY: Summary(1, two.sequence)},
        Counting(topic=topic, state=READY, reference="x", identifier="b"): {READY: Summary(1, two.sequence)},
        Counting(state=READY, reference="x", identifier="a"): {},
    }

    with backend.begin() as tx:
        found = {counting: repository.count(tx, snapshot, counting)[topic] for counting in expected}
    assert found == expected


@pytest.fixture
def history(backend: Backend, repository: Repository, topic: str) -> list[Task]:
    """First a failed task of a, then a succeeded one of a, then one of b that waits and bears a reference."""
    tasks = [
        *push(backend, repository, topic, "a", "a"),
        *push(backend, repository, topic, "b", reference="x"),
    ]
    drive(backend, repository, topic, tasks[0], FAILED)
    drive(backend, repository, topic, tasks[1], SUCCEEDED)
    return tasks


def test_recent_counts_the_latest_of_each_identifier(
    backend: Backend, repository: Repository, topic: str, history: list[Task]
) -> None:
    """TOTAL counts all rows, RECENT one per topic and identifier (LI-11)."""
    failed, succeeded, ready = (task.sequence for task in history)
    run(backend, repository.initialize, "other")
    (elsewhere,) = push(backend, repository, "other", "a")
    other = {"other": {READY: Summary(1, elsewhere.sequence)}}

    recent = {SUCCEEDED: Summary(1, succeeded), READY: Summary(1, ready)}
    assert run(backend, repository.count, Snapshot.RECENT) == {topic: recent} | other
    assert run(backend, repository.count) == {topic: recent | {FAILED: Summary(1, failed)}} | other


@pytest.mark.usefixtures("history")
def test_recent_judges_the_state_last(backend: Backend, repository: Repository, topic: str) -> None:
    """An identifier whose latest row is in another state does not count (LI-12)."""
    assert run(backend, repository.count, Snapshot.RECENT, Counting(state=FAILED)) == {topic: {}}


def test_recent_judges_range_and_names_first(
    backend: Backend, repository: Repository, topic: str, history: list[Task]
) -> None:
    """Of what range, reference and identifier leave, the latest row counts (LI-12)."""
    failed, succeeded, _ = (task.sequence for task in history)
    recent = Snapshot.RECENT
    (reference,) = push(backend, repository, topic, "b", insertion=Insertion.APPEND, reference="y")

    with backend.begin() as tx:
        assert repository.count(tx, recent, Counting(state=FAILED), last=failed) == {
            topic: {FAILED: Summary(1, failed)}
        }
        assert repository.count(tx, recent, Counting(identifier="a")) == {topic: {SUCCEEDED: Summary(1, succeeded)}}
        assert repository.count(tx, recent, Counting(reference="x")) == {
            topic: {READY: Summary(1, history[2].sequence)}
        }
        assert repository.count(tx, recent, Counting(identifier="b")) == {
            topic: {READY: Summary(1, reference.sequence)}
        }


def test_a_dated_count_goes_through_resolve(backend: Backend, repository: Repository, topic: str) -> None:
    """From the first sequence at or after to the last at or before, both included (LI-13)."""
    tasks = push(backend, repository, topic, *"abcde")
    for n, task in enumerate(tasks):
        set_time(backend, task, NOON + n * HOUR)

    with backend.begin() as tx:
        first = repository.resolve(tx, NOON + HOUR)
        last = repository.resolve(tx, NOON + 3 * HOUR, preceding=True)
        counted = repository.count(tx, first=first, last=last)

    assert counted == {topic: {READY: Summary(3, tasks[3].sequence)}}


def test_results_are_failed_to_succeeded(backend: Backend, repository: Repository, topic: str) -> None:
    """No other state is a result (LI-14)."""
    one_of_each(backend, repository, topic)

    assert run(backend, repository.results) == {topic: dict.fromkeys(TaskResult, 1)}
    assert {result.state for result in TaskResult} < FINISHED | REVIVABLE


def test_every_topic_appears_in_results(backend: Backend, repository: Repository, topic: str) -> None:
    """Possibly empty, with a window or without (LI-16)."""
    run(backend, repository.initialize, "other")
    push(backend, repository, topic, "a")

    assert run(backend, repository.results) == {topic: {}, "other": {}}
    assert run(backend, repository.results, since=NOON) == {topic: {}, "other": {}}


def test_the_window_of_results_is_inclusive(backend: Backend, repository: Repository, topic: str) -> None:
    """It goes by completion, either end may be open, and any offset will do (LI-15, LI-22)."""
    push(backend, repository, topic, *"abc")
    tasks = poll(backend, repository, topic, 3)
    complete(backend, repository, topic, tasks, TaskDecision.FILTER)
    for n, task in enumerate(tasks):
        set_time(backend, task, NOON + n * HOUR, column="completed")

    def count(since: datetime | None, until: datetime | None) -> int:
        window = run(backend, repository.results, since=since, until=until)
        return window[topic].get(TaskResult.FILTER, 0)

    tokyo = timezone(timedelta(hours=9))
    assert count(NOON, NOON + 2 * HOUR) == 3
    assert count(NOON + HOUR, NOON + HOUR) == 1
    assert count((NOON + HOUR).astimezone(tokyo), None) == 2
    assert count(None, NOON) == 1
    assert count(None, NOON - HOUR) == 0
    assert count(NOON + HOUR, NOON) == 0


def test_an_open_window_counts_rows_without_completion(backend: Backend, repository: Repository, topic: str) -> None:
    """A task suspended at creation was never completed: only the open window has it (LI-15)."""
    push(backend, repository, topic, "a", suspended=True)

    assert run(backend, repository.results) == {topic: {TaskResult.SUSPENSION: 1}}
    assert run(backend, repository.results, since=NOON) == {topic: {}}
    assert run(backend, repository.results, until=datetime.now(UTC) + HOUR) == {topic: {}}

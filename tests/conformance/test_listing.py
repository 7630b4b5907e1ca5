"""Paging, listing and looking up tasks and topics (section 9 of BEHAVIOURS.md)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from task_api import (
    INCEPTION,
    MAX_SEQUENCE,
    Direction,
    InvalidTaskError,
    Listing,
    Task,
    TaskDecision,
    TaskInfo,
    TaskState,
)
from tests.backends import Backend
from tests.backends.steps import complete, drive, info, poll, push
from tests.conformance.scenes import Repository, now, one_of_each, run, set_time

BACKWARD = Direction.BACKWARD
NOON = datetime(2024, 5, 17, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def test_forward_is_above_and_ascending(backend: Backend, repository: Repository, topic: str) -> None:
    """A page holds at most its size of tasks above the start (LI-01)."""
    tasks = push(backend, repository, topic, *"abcde")

    assert run(backend, repository.page, topic, start=tasks[1].sequence) == tasks[2:]
    assert run(backend, repository.page, topic, start=tasks[1].sequence, size=2) == tasks[2:4]


def test_backward_is_below_and_descending(backend: Backend, repository: Repository, topic: str) -> None:
    """A page holds at most its size of tasks below the start (LI-01)."""
    tasks = push(backend, repository, topic, *"abcde")
    start = tasks[3].sequence

    assert run(backend, repository.page, topic, start=start, direction=BACKWARD) == tasks[2::-1]
    assert run(backend, repository.page, topic, start=start, size=2, direction=BACKWARD) == tasks[2:0:-1]


def test_unbounded_starts(backend: Backend, repository: Repository, topic: str) -> None:
    """Forward, the default, from INCEPTION or backward from MAX sees everything (LI-02, LI-05)."""
    tasks = push(backend, repository, topic, *"abc")

    with backend.begin() as tx:
        assert repository.page(tx, topic) == tasks
        assert repository.page(tx, topic, start=INCEPTION) == tasks
        assert repository.page(tx, topic, direction=BACKWARD) == tasks[::-1]
        assert repository.page(tx, topic, start=MAX_SEQUENCE, direction=BACKWARD) == tasks[::-1]


def test_empty_pages(backend: Backend, repository: Repository, topic: str) -> None:
    """A negative start, the far ends and size 0 give nothing (LI-03)."""
    push(backend, repository, topic, "a")

    with backend.begin() as tx:
        assert repository.page(tx, topic, start=-1) == []
        assert repository.page(tx, topic, start=-1, direction=BACKWARD) == []
        assert repository.page(tx, topic, start=MAX_SEQUENCE) == []
        assert repository.page(tx, topic, start=INCEPTION, direction=BACKWARD) == []
        assert repository.page(tx, topic, size=0) == []
        assert repository.page(tx, topic, size=0, direction=BACKWARD) == []


def test_a_negative_size_is_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """It is a mistake of the caller, not an empty page (LI-03)."""
    with pytest.raises(InvalidTaskError, match=r"size.*-1"):
        run(backend, repository.page, topic, size=-1)


@pytest.mark.parametrize("direction", Direction, ids=lambda direction: direction.name)
def test_filters_combine(backend: Backend, repository: Repository, topic: str, direction: Direction) -> None:
    """State, reference and identifier must all match; without any, everything is listed (LI-04)."""
    one, two = push(backend, repository, topic, "a", "b", reference="x")
    three, four = push(backend, repository, topic, "a", "b", reference="y")
    (five,) = push(backend, repository, topic, "a")
    drive(backend, repository, topic, one, TaskState.FAILED)
    drive(backend, repository, topic, four, TaskState.FAILED)

    expected = {
        Listing(): [one, two, three, four, five],
        Listing(state=TaskState.FAILED): [one, four],
        Listing(reference="x"): [one, two],
        Listing(identifier="a"): [one, three, five],
        Listing(state=TaskState.READY, reference="y"): [three],
        Listing(state=TaskState.FAILED, identifier="b"): [four],
        Listing(reference="x", identifier="b"): [two],
        Listing(state=TaskState.FAILED, reference="x", identifier="a"): [one],
        Listing(state=TaskState.FAILED, reference="x", identifier="b"): [],
    }

    with backend.begin() as tx:
        found = {listing: repository.page(tx, topic, direction=direction, listing=listing) for listing in expected}
    step = 1 if direction is Direction.FORWARD else -1
    assert found == {listing: tasks[::step] for listing, tasks in expected.items()}


def test_every_state_can_be_listed(backend: Backend, repository: Repository, topic: str) -> None:
    """The state filter is exact (LI-04)."""
    tasks = one_of_each(backend, repository, topic)

    for state, task in tasks.items():
        listed = run(backend, repository.page, topic, listing=Listing(state=state, identifier=state.name))
        assert listed == [task]


@pytest.mark.parametrize("direction", Direction, ids=lambda direction: direction.name)
def test_walking_through_loses_and_repeats_nothing(
    backend: Backend, repository: Repository, topic: str, direction: Direction
) -> None:
    """The last sequence of a page starts the next; other topics lie between (LI-01, LI-05)."""
    run(backend, repository.initialize, "other")
    tasks: list[Task] = []
    for n in range(7):
        tasks += push(backend, repository, topic, f"task-{n}")
        push(backend, repository, "other", f"task-{n}")

    walked: list[TaskInfo] = []
    while page := run(
        backend,
        repository.page,
        topic,
        start=walked[-1].sequence if walked else None,
        size=3,
        direction=direction,
    ):
        walked += page

    assert walked == (tasks if direction is Direction.FORWARD else tasks[::-1])


def test_lookup_is_exact(backend: Backend, repository: Repository, topic: str) -> None:
    """A sequence that is not in the topic finds nothing, whatever lies below it (LI-06, LI-B1)."""
    run(backend, repository.initialize, "other")
    (task,) = push(backend, repository, topic, "a")
    (elsewhere,) = push(backend, repository, "other", "a")

    with backend.begin() as tx:
        assert repository.task(tx, topic, task.sequence) == task
        for sequence in (elsewhere.sequence, elsewhere.sequence + 1, INCEPTION, MAX_SEQUENCE, -1):
            assert repository.task(tx, topic, sequence) is None
        assert repository.task(tx, "unknown", task.sequence) is None


def test_info_tells_everything(backend: Backend, repository: Repository, topic: str) -> None:
    """A listed task carries its whole record (LI-06, ST-15)."""
    push(backend, repository, topic, "a", input="in", reference="ref")
    (polled,) = poll(backend, repository, topic, lease=timedelta(minutes=5))
    complete(backend, repository, topic, polled, TaskDecision.suspension("out", timedelta(hours=1)))

    (listed,) = run(backend, repository.page, topic)

    assert isinstance(listed, TaskInfo)
    assert (listed.topic, listed.identifier, listed.input, listed.reference, listed.output) == (
        topic,
        "a",
        "in",
        "ref",
        "out",
    )
    assert (listed.state, listed.descent, listed.owner) == (TaskState.SUSPENDED, TaskState.READY, "me")
    assert (listed.attempt, listed.token, listed.origin) == (1, polled.token, None)
    assert listed.due is not None
    assert listed.completed is not None
    assert listed.polled is not None
    assert listed.created <= listed.polled <= listed.completed < listed.due


def test_topics_are_those_initialised(backend: Backend, repository: Repository, topic: str) -> None:
    """Exactly the initialised names, whoever asks (LI-07)."""
    run(backend, repository.initialize, "other")
    run(backend, repository.initialize, "gone")
    run(backend, repository.destroy, "gone")

    assert run(backend, backend.repository("another").topics) == {topic, "other"}


@pytest.fixture
def dated(backend: Backend, repository: Repository, topic: str) -> list[Task]:
    """Five tasks, pushed a minute after one another from NOON."""
    tasks = push(backend, repository, topic, *"abcde")
    for n, task in enumerate(tasks):
        set_time(backend, task, NOON + n * MINUTE)
    return tasks


@pytest.mark.parametrize("listing", [Listing(), Listing(state=TaskState.READY)], ids=["all", "filtered"])
def test_a_page_by_moment_includes_the_boundary(
    backend: Backend, repository: Repository, topic: str, dated: list[Task], listing: Listing
) -> None:
    """Forward at or after it, backward at or before it, with a listing or without (LI-B2, LI-B3)."""
    at, between = NOON + 2 * MINUTE, NOON + 1.5 * MINUTE

    with backend.begin() as tx:
        assert repository.page(tx, topic, start=at, listing=listing) == dated[2:]
        assert repository.page(tx, topic, start=at, direction=BACKWARD, listing=listing) == dated[2::-1]
        assert repository.page(tx, topic, start=between, listing=listing) == dated[2:]
        assert repository.page(tx, topic, start=between, direction=BACKWARD, listing=listing) == dated[1::-1]


def test_a_page_by_moment_outside_of_all(
    backend: Backend, repository: Repository, topic: str, dated: list[Task]
) -> None:
    """Before the first and after the last task a page has everything or nothing (LI-B2)."""
    early, late = NOON - MINUTE, NOON + 5 * MINUTE

    with backend.begin() as tx:
        assert repository.page(tx, topic, start=early) == dated
        assert repository.page(tx, topic, start=early, direction=BACKWARD) == []
        assert repository.page(tx, topic, start=late) == []
        assert repository.page(tx, topic, start=late, direction=BACKWARD) == dated[::-1]


def test_the_first_task_at_a_moment_is_of_this_topic(
    backend: Backend, repository: Repository, topic: str, dated: list[Task]
) -> None:
    """Tasks of other topics around the moment do not bring an earlier one of this topic (LI-B4)."""
    run(backend, repository.initialize, "other")
    (elsewhere,) = push(backend, repository, "other", "x")
    (last,) = push(backend, repository, topic, "last")
    set_time(backend, elsewhere, NOON + 10 * MINUTE)
    set_time(backend, last, NOON + 20 * MINUTE)

    moment = NOON + 10 * MINUTE
    assert run(backend, repository.page, topic, start=moment, size=1) == [last]
    assert run(backend, repository.page, topic, start=moment, size=1, direction=BACKWARD) == dated[-1:]


def test_times_are_utc_by_the_database_clock(backend: Backend, repository: Repository, topic: str) -> None:
    """Stored times come back aware, in UTC, and are the database's present (LI-22, LI-B7)."""
    before = now(backend)
    push(backend, repository, topic, "a", due=timedelta(0))
    run(backend, repository.promote, topic)
    (task,) = poll(backend, repository, topic, lease=timedelta(0))
    complete(backend, repository, topic, task)
    after = now(backend)

    found = info(backend, repository, topic, task)
    times = [time for time in (found.created, found.polled, found.completed) if time]
    assert [time.tzinfo for time in times] == [UTC] * 3
    assert times == sorted(times)
    second = timedelta(seconds=1)
    assert before - second <= times[0] <= times[-1] <= after + second


@pytest.mark.backends("postgresql")
@pytest.mark.kinds("driver", "plain")
def test_the_session_time_zone_does_not_matter(backend: Backend, repository: Repository, topic: str) -> None:
    """Whatever zone the session has, times are stored, compared and returned as UTC (LI-22, LI-B7)."""
    (task,) = push(backend, repository, topic, "a")
    set_time(backend, task, NOON)

    tx = backend.open()
    tx.execute("SET LOCAL TIME ZONE 'Asia/Tokyo'")
    found = repository.task(tx, topic, task.sequence)
    fresh = repository.task(tx, topic, repository.push(tx, topic, "b").sequence)

    assert found is not None
    assert fresh is not None
    assert (found.created, found.created.tzinfo) == (NOON, UTC)
    assert abs(fresh.created - datetime.now(UTC)) < timedelta(hours=1)
    assert repository.page(tx, topic, start=NOON, size=1) == [task]
    assert repository.resolve(tx, NOON.date()) == task.sequence


def test_given_moments_may_have_any_offset(
    backend: Backend, repository: Repository, topic: str, dated: list[Task]
) -> None:
    """A moment means the same in every time zone (LI-22)."""
    india = (NOON + 2 * MINUTE).astimezone(timezone(timedelta(hours=5, minutes=30)))

    assert run(backend, repository.page, topic, start=india) == dated[2:]


def test_refresh_changes_nothing_visible(backend: Backend, repository: Repository, topic: str) -> None:
    """It runs in the caller's transaction, before and after other calls (LI-23)."""
    with backend.begin() as tx:
        task = repository.push(tx, topic, "a")
        repository.refresh(tx)
        assert repository.page(tx, topic) == [task]

    assert run(backend, repository.page, topic) == [task]


@pytest.mark.backends("postgresql")
def test_refresh_renews_the_statistics(backend: Backend, repository: Repository, topic: str) -> None:
    """The planner knows the number of tasks afterwards (LI-23)."""
    push(backend, repository, topic, *(f"task-{n}" for n in range(50)))

    run(backend, repository.refresh)

    assert backend.sql("SELECT reltuples FROM pg_class WHERE oid = 'task'::regclass") == [(50,)]

"""Slots of time: created once, told apart by a coverage, and purged."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from task_api import InvalidTaskError, Revivification, TaskInfo, TaskState, UnknownTopicError
from task_processor.slots.grid import LOWEST
from task_processor.slots.slot import COLLECTIONS, TimeSlot
from task_processor.slots.slots import TimeSlots
from tests.backends import Backend
from tests.conformance.scenes import Repository, run
from tests.siblings.slot_scenes import FIVE, NOON, Slots, acquired, at, covered, numbers, shape

pytestmark = [pytest.mark.backends("sqlite", "postgresql", "oracle"), pytest.mark.kinds("driver", "session")]


# Creating ---------------------------------------------------------------------------------------------------


def test_a_range_is_covered_once(backend: Backend, slots: Slots) -> None:
    """Each slot that is missing is created, and only those are returned (S3-01, S3-02, S3-03, S3-B9)."""
    assert numbers(run(backend, slots.cover, at(2), at(4))) == [2, 3]
    assert numbers(run(backend, slots.cover, NOON, at(6))) == [0, 1, 4, 5]
    assert run(backend, slots.cover, NOON, at(6)) == ()
    assert covered(backend, slots, 7) == {"open": [0, 1, 2, 3, 4, 5], "missing": [6]}


def test_a_created_slot_is_fully_known(backend: Backend, slots: Slots) -> None:
    """By whom and when it was made is read back at once (S3-01, S3-B4)."""
    [slot] = run(backend, slots.cover, NOON, at(1))
    assert (slot.start, slot.end, slot.failures, slot.message) == (NOON, at(1), 0, None)
    assert (slot.creator, slot.holder, slot.acquired, slot.completed) == ("me", None, None, None)
    assert slot.created is not None
    [again] = run(backend, slots.coverage, NOON, at(1)).open
    assert again.created == slot.created


def test_bounds_are_aligned_and_the_end_is_not_included(backend: Backend, slots: Slots) -> None:
    """A slot that is not over yet is not covered by accident (S3-04)."""
    late = timedelta(minutes=4)
    assert numbers(run(backend, slots.cover, NOON + late, at(2) + late)) == [0, 1]
    assert shape(run(backend, slots.coverage, NOON + late, at(3) + late)) == {"open": [0, 1], "missing": [2]}
    assert run(backend, slots.acquire, at(2) - late, at(2) + late) == TimeSlot(at(1), at(2))
    assert run(backend, slots.acquire, at(1) + late, None) is None
    assert run(backend, slots.acquire, None, NOON + late) is None
    assert run(backend, slots.acquire, None, at(1) + late) == TimeSlot(NOON, at(1))
    assert shape(run(backend, slots.coverage, NOON, NOON + late)) == {}


def test_slots_keep_microseconds(backend: Backend, repository: Repository, topic: str) -> None:
    """Neither milliseconds nor seconds are the end of precision, and the order is that of time (S3-B5)."""
    slots = TimeSlots(repository, topic, timedelta(microseconds=250))
    start = NOON + timedelta(microseconds=750)
    made = run(backend, slots.cover, start, start + timedelta(microseconds=1000))
    assert [slot.start.microsecond for slot in made] == [750, 1000, 1250, 1500]
    assert [acquired(backend, slots).start for _ in made] == [slot.start for slot in made]


def test_many_slots_are_covered_at_once(backend: Backend, slots: Slots) -> None:
    """A week of five minutes is two thousand."""
    assert len(run(backend, slots.cover, NOON, NOON + timedelta(days=7))) == 2016
    assert run(backend, slots.cover, NOON, NOON + timedelta(days=7)) == ()
    assert len(run(backend, slots.coverage, NOON, NOON + timedelta(days=8)).missing) == 288


def test_a_topic_is_divided_in_one_way(backend: Backend, slots: Slots, repository: Repository, topic: str) -> None:
    """Slots that would overlap those that are there are refused by every call, and nothing is changed (S3-B6)."""
    run(backend, slots.cover, NOON, at(3))
    others = [
        TimeSlots(repository, topic, timedelta(minutes=10)),
        TimeSlots(repository, topic, FIVE, NOON + timedelta(minutes=1)),
    ]
    for other in others:
        with backend.begin() as tx:
            for call in (other.cover, other.coverage, other.acquire, other.reopen):
                with pytest.raises(InvalidTaskError, match=r"0:05:00 from 1970.*would overlap; use the same"):
                    call(tx, NOON, at(6))
            with pytest.raises(InvalidTaskError, match="would overlap"):
                other.purge(tx, NOON)
    assert covered(backend, slots, 4) == {"open": [0, 1, 2], "missing": [3]}


def test_origins_whole_intervals_apart_are_one(backend: Backend, slots: Slots, repository: Repository) -> None:
    """What divides time alike is alike, in any time zone (S3-B6)."""
    run(backend, slots.cover, NOON, at(2))
    zone = timezone(timedelta(hours=-3))
    same = TimeSlots(repository, slots.topic, timedelta(seconds=300), (NOON + 7 * FIVE).astimezone(zone))
    assert covered(backend, same, 2) == {"open": [0, 1]}
    assert (same.interval, same.origin) == (slots.interval, slots.origin)


def test_the_division_is_found_again(backend: Backend, slots: Slots, repository: Repository, topic: str) -> None:
    """Whoever only looks need not know it."""
    assert run(backend, lambda tx: TimeSlots.stored(repository, tx, topic)) is None
    run(backend, slots.cover, NOON, at(2))
    found = run(backend, lambda tx: TimeSlots.stored(repository, tx, topic))
    assert found is not None
    assert (found.topic, found.interval, found.origin) == (topic, FIVE, datetime(1970, 1, 1, tzinfo=UTC))


def test_a_rolled_back_division_binds_nobody(
    backend: Backend, slots: Slots, repository: Repository, topic: str
) -> None:
    """The first cover that is committed divides the topic (S3-B6)."""
    tx = backend.open()
    slots.cover(tx, NOON, at(2))
    assert shape(slots.coverage(tx, NOON, at(2))) == {"open": [0, 1]}
    backend.rollback(tx)
    backend.close(tx)
    hours = TimeSlots(repository, topic, timedelta(hours=1))
    assert len(run(backend, hours.cover, NOON, NOON + timedelta(hours=2))) == 2
    with pytest.raises(InvalidTaskError, match="would overlap"):
        run(backend, slots.cover, NOON, at(2))


def test_the_division_is_never_a_slot(backend: Backend, slots: Slots, repository: Repository, topic: str) -> None:
    """Not even after somebody revived the task that keeps it."""
    run(backend, slots.cover, NOON, at(1))
    run(backend, repository.recreate_state, topic, Revivification.RESET, TaskState.SUSPENDED)
    assert acquired(backend, slots).start == NOON
    assert run(backend, slots.acquire) is None
    assert covered(backend, slots, 1) == {"held": [0]}


def test_long_names_and_a_second_initialization_are_fine(backend: Backend, repository: Repository) -> None:
    """A topic has up to 250 characters, and making it again is no error (S3-B7)."""
    topic = "report'; DROP TABLE task; --".ljust(250, "x")
    assert run(backend, repository.initialize, topic)
    assert not run(backend, repository.initialize, topic)
    slots = TimeSlots(repository, topic, FIVE)
    assert len(run(backend, slots.cover, NOON, at(2))) == 2
    assert acquired(backend, slots).start == NOON


# Looking ----------------------------------------------------------------------------------------------------


def test_every_slot_is_in_one_collection(backend: Backend, slots: Slots) -> None:
    """In the order of time, and all of them together are the stretch (S3-17)."""
    run(backend, slots.cover, NOON, at(5))
    for outcome in (slots.skip, slots.complete, slots.fail):
        run(backend, outcome, acquired(backend, slots))
    acquired(backend, slots, start=at(3))
    coverage = run(backend, slots.coverage, at(-1), at(6))
    assert shape(coverage) == {
        "skipped": [0],
        "done": [1],
        "failed": [2],
        "held": [3],
        "open": [4],
        "missing": [-1, 5],
    }
    assert [slot.start for _, slot in coverage] == [at(number) for number in range(-1, 6)]
    assert [name for name, _ in coverage] == ["missing", "skipped", "done", "failed", "held", "open", "missing"]
    assert (coverage.start, coverage.end) == (at(-1), at(6))
    for name in COLLECTIONS:
        if name not in ("done", "skipped"):
            [slot] = getattr(coverage, name)[:1]
            assert not run(backend, slots.coverage, slot.start, slot.end).covered


def test_a_topic_that_nobody_covered_is_missing(backend: Backend, slots: Slots, repository: Repository) -> None:
    """A look changes nothing, and there is nothing to acquire (S3-17)."""
    assert covered(backend, slots, 2) == {"missing": [0, 1]}
    assert run(backend, slots.acquire) is None
    assert run(backend, slots.reopen, NOON, at(2)) == ()
    assert run(backend, repository.page, slots.topic) == []
    unknown = TimeSlots(repository, "unknown", FIVE)
    assert covered(backend, unknown, 2) == {"missing": [0, 1]}
    with pytest.raises(UnknownTopicError):
        run(backend, unknown.cover, NOON, at(2))


def test_slots_of_other_topics_are_left_alone(backend: Backend, slots: Slots, repository: Repository) -> None:
    """The same times of two topics have nothing to do with each other (S3-01)."""
    run(backend, repository.initialize, "hours")
    hours = TimeSlots(repository, "hours", timedelta(hours=1))
    run(backend, hours.cover, NOON, NOON + timedelta(hours=2))
    run(backend, slots.cover, NOON, at(2))
    run(backend, slots.complete, acquired(backend, slots))
    assert acquired(backend, hours).end == NOON + timedelta(hours=1)
    assert covered(backend, slots, 2) == {"done": [0], "open": [1]}


def test_a_window_is_filled_and_worked_off(backend: Backend, slots: Slots) -> None:
    """The backlog first, then what is current; gaps that a downtime left are filled (S3-15, S3-B9, S3-B10)."""
    run(backend, slots.cover, NOON, at(1))
    now, window, done = at(4) + timedelta(minutes=1), timedelta(minutes=15), []
    while True:
        with backend.begin() as tx:
            slots.cover(tx, now - window, now + FIVE)
            slot = slots.acquire(tx, now - window, now + FIVE)
            if slot is None:
                break
            slots.complete(tx, slot)
            done.append(slot)
    assert numbers(tuple(done)) == [1, 2, 3, 4]
    assert covered(backend, slots, 5) == {"open": [0], "done": [1, 2, 3, 4]}


# Purging ----------------------------------------------------------------------------------------------------


def test_finished_slots_before_a_time_are_purged(backend: Backend, slots: Slots) -> None:
    """By their own time, not by that of their creation; what is open stays, and so does the division."""
    for number in (4, 0, 3, 1, 5, 2):
        run(backend, slots.cover, at(number), at(number + 1))
    for number in (0, 1, 2, 4, 5):
        slot = acquired(backend, slots, start=at(number))
        run(backend, slots.skip if number == 1 else slots.complete, slot)
    assert run(backend, slots.purge, at(5) + timedelta(minutes=4)) == 4
    assert covered(backend, slots, 6) == {"missing": [0, 1, 2, 4], "open": [3], "done": [5]}
    assert run(backend, slots.purge, at(5)) == 0
    with pytest.raises(InvalidTaskError, match="would overlap"):
        run(backend, TimeSlots(slots.repository, slots.topic, timedelta(hours=1)).cover, NOON, at(20))


class Meanwhile:
    """A repository in which something happens as soon as the slots were listed."""

    def __init__(self, repository: Repository, happen: Callable[[Any], None]) -> None:
        self._repository = repository
        self._happen = happen

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's
        return getattr(self._repository, name)

    def between(self, tx: Any, topic: str, low: str, high: str) -> list[TaskInfo]:  # noqa: ANN401 - of any kind
        """List, and let it happen."""
        found = self._repository.between(tx, topic, low, high)
        if low == LOWEST:
            self._happen(tx)
        return found


@pytest.mark.parametrize("number", [9, 1])
def test_what_is_finished_during_a_purge_stays(backend: Backend, slots: Slots, number: int) -> None:
    """Be it younger or not: it was not among the slots that the purge found."""
    for each in (0, number, 2):
        run(backend, slots.cover, at(each), at(each + 1))
    slot = acquired(backend, slots, start=at(number))
    for _ in range(2):
        run(backend, slots.complete, acquired(backend, slots))
    repository: Any = Meanwhile(slots.repository, lambda tx: slots.complete(tx, slot, "in time"))
    assert run(backend, TimeSlots(repository, slots.topic, FIVE).purge, at(5)) == 2
    [found] = run(backend, slots.coverage, at(number), at(number + 1)).done
    assert found.message == "in time"


# Mistakes ---------------------------------------------------------------------------------------------------


def test_wrong_bounds_are_refused(backend: Backend, slots: Slots) -> None:
    """Before anything is sent, so that the transaction stays usable (P7)."""
    naive: Any = NOON.replace(tzinfo=None)
    day: Any = NOON.date()
    with backend.begin() as tx:
        for call in (slots.cover, slots.acquire, slots.reopen, slots.coverage):
            with pytest.raises(InvalidTaskError, match="start must be an aware datetime, give it a time zone"):
                call(tx, naive, NOON)
            with pytest.raises(InvalidTaskError, match="end must be an aware datetime, not date"):
                call(tx, NOON, day)
            with pytest.raises(InvalidTaskError, match="end must not lie before start"):
                call(tx, at(1), NOON)
            with pytest.raises(InvalidTaskError, match="start lies too far away"):
                call(tx, datetime.max.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
        with pytest.raises(InvalidTaskError, match="before must be an aware datetime"):
            slots.purge(tx, naive)
        slot: Any = "12:00"
        for decide in (slots.complete, slots.skip, slots.fail):
            with pytest.raises(InvalidTaskError, match="a slot is what acquire returned, not str"):
                decide(tx, slot)
        assert slots.cover(tx, NOON, NOON) == ()


def test_a_spoilt_input_is_survived(backend: Backend, slots: Slots, repository: Repository, topic: str) -> None:
    """What others write into a slot's task costs its count, not the slot; a spoilt division is named."""
    run(backend, slots.cover, NOON, at(2))
    for spoilt in ("spoilt", "[1]"):
        slot = acquired(backend, slots)
        assert slot.task is not None
        run(backend, repository.checkpoint, topic, slot.task, spoilt)
        run(backend, repository.release, topic, [slot.task])
        again = acquired(backend, slots)
        assert again.failures == 0
        run(backend, slots.complete, again)
    backend.sql("UPDATE task SET input = 'spoilt' WHERE state = 4")
    with pytest.raises(InvalidTaskError, match="no longer says how its topic is divided: 'spoilt'"):
        run(backend, slots.coverage, NOON, at(2))

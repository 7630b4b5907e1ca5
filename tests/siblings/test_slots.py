"""Slots of time: created once, acquired by age, decided in the caller's transaction, and told apart by a coverage."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypeAlias

import pytest

from task_api import (
    Claim,
    InvalidTaskError,
    LostTaskError,
    Revivification,
    TaskDecision,
    TaskState,
    TaskStateError,
    UnknownOwnerError,
    UnknownTopicError,
)
from task_processor.slots.slot import COLLECTIONS, SlotCoverage, TimeSlot
from task_processor.slots.slots import TimeSlots
from tests.backends import Backend
from tests.backends.steps import poll
from tests.conformance.scenes import Repository, run
from tests.contention.plain_sql import execute

pytestmark = [pytest.mark.backends("sqlite", "postgresql", "oracle"), pytest.mark.kinds("driver", "session")]

Slots: TypeAlias = TimeSlots[Any]

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
FIVE = timedelta(minutes=5)
CLAIMS = pytest.mark.parametrize("claim", Claim, ids=lambda claim: claim.name)


def at(number: int) -> datetime:
    """The beginning of a slot after noon."""
    return NOON + number * FIVE


@pytest.fixture
def slots(repository: Repository, topic: str) -> Slots:
    """Slots of five minutes."""
    return TimeSlots(repository, topic, FIVE)


def numbers(found: tuple[TimeSlot, ...]) -> list[int]:
    """Which slots after noon these are."""
    assert {slot.end - slot.start for slot in found} <= {FIVE}
    return [(slot.start - NOON) // FIVE for slot in found]


def shape(coverage: SlotCoverage) -> dict[str, list[int]]:
    """Which slots a coverage has in which collection; empty ones are left out."""
    return {name: numbers(found) for name in COLLECTIONS if (found := getattr(coverage, name))}


def covered(backend: Backend, slots: Slots, number: int) -> dict[str, list[int]]:
    """How the first slots after noon are covered."""
    return shape(run(backend, slots.coverage, NOON, at(number)))


def acquired(backend: Backend, slots: Slots, **options: Any) -> TimeSlot:
    """Acquire a slot, which there is."""
    slot = run(backend, slots.acquire, **options)
    assert slot is not None
    return slot


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


# Acquiring --------------------------------------------------------------------------------------------------


@CLAIMS
def test_the_oldest_slot_is_acquired_first(backend: Backend, slots: Slots, claim: Claim) -> None:
    """By time, whatever the order of creation (S3-06, S3-B1)."""
    for number in (3, 0, 2, 1):
        run(backend, slots.cover, at(number), at(number + 1))
    with backend.begin() as tx:
        found = [slots.acquire(tx, claim=claim) for _ in range(5)]
    assert [slot and slot.start for slot in found] == [at(0), at(1), at(2), at(3), None]


def test_acquiring_says_who_and_when(backend: Backend, slots: Slots) -> None:
    """A committed claim is seen by all, the slot is held (S3-05, S3-B2, S3-B4)."""
    run(backend, slots.cover, NOON, at(1))
    slot = acquired(backend, slots, lease=timedelta(minutes=1))
    assert (slot.holder, slot.creator, slot.failures) == ("me", "me", 0)
    assert slot.acquired is not None
    [held] = run(backend, slots.coverage, NOON, at(1)).held
    assert (held.holder, held.acquired) == ("me", slot.acquired)


def test_a_slot_held_by_an_open_transaction_is_open_to_others(
    backend: Backend, slots: Slots, repository: Repository
) -> None:
    """They keep seeing what was committed; a rollback or a crash leaves no trace (S3-07, S3-12)."""
    run(backend, slots.cover, NOON, at(1))
    tx = backend.open()
    slot = slots.acquire(tx, claim=Claim.TRANSACTION)
    assert slot is not None
    assert (slot.holder, slot.acquired) == (repository.owner, None)
    assert slots.acquire(tx, claim=Claim.TRANSACTION) is None
    if backend.name != "sqlite":  # where an open transaction keeps others out
        assert covered(backend, slots, 1) == {"open": [0]}
        assert run(backend, TimeSlots(backend.repository("other"), slots.topic, FIVE).acquire) is None
    backend.rollback(tx)
    backend.close(tx)
    [left] = run(backend, slots.coverage, NOON, at(1)).open
    assert (left.failures, left.holder, left.acquired) == (0, None, None)
    assert acquired(backend, slots).start == NOON


def test_the_slot_of_a_dead_holder_is_open_once_it_is_expired(
    backend: Backend, slots: Slots, repository: Repository, topic: str
) -> None:
    """A committed claim lasts until its owner is found silent; no failure is counted (S3-12, S3-B8)."""
    ghost = TimeSlots(backend.repository("ghost"), topic, FIVE)
    run(backend, slots.cover, NOON, at(1))
    run(backend, ghost.fail, acquired(backend, ghost), "no data yet")
    lost = acquired(backend, ghost)
    assert run(backend, slots.acquire) is None
    backend.age_owner("ghost", 3600)
    assert run(backend, slots.recover, timedelta(hours=2)) == 0
    run(backend, repository.expire, timedelta(minutes=30))
    assert covered(backend, slots, 1) == {"failed": [0]}
    assert run(backend, slots.acquire) is None
    assert run(backend, slots.recover, timedelta(minutes=30)) == 1
    [failed] = run(backend, slots.coverage, NOON, at(1)).failed
    assert (failed.failures, failed.message) == (1, "no data yet")
    run(backend, slots.complete, acquired(backend, slots))
    with pytest.raises(LostTaskError, match="2026-11-16T12:00:00"):
        run(backend, ghost.complete, lost)


def test_slots_whose_lease_has_ended_are_recovered(backend: Backend, slots: Slots) -> None:
    """All of them, in one call; the division stays what it is (S3-12, S3-B8)."""
    run(backend, slots.cover, NOON, at(4))
    for lease in (timedelta(), timedelta(hours=1), timedelta(), None):
        acquired(backend, slots, lease=lease)
    assert run(backend, slots.recover, timedelta(hours=1)) == 2
    assert covered(backend, slots, 4) == {"open": [0, 2], "held": [1, 3]}
    assert run(backend, slots.recover, timedelta(hours=1)) == 0


def test_an_expired_slot_counts_as_open(backend: Backend, slots: Slots, repository: Repository) -> None:
    """Nobody holds it, and it is still to be done (S3-17)."""
    run(backend, slots.cover, NOON, at(1))
    acquired(backend, slots, lease=timedelta())
    assert run(backend, repository.expire, timedelta(hours=1)) == 1
    assert covered(backend, slots, 1) == {"open": [0]}
    assert numbers(run(backend, slots.reopen, NOON)) == [0]
    assert acquired(backend, slots).start == NOON


def test_a_slot_that_is_gone_stands_for_nothing(backend: Backend, slots: Slots, repository: Repository) -> None:
    """A task that was recreated by an operator is followed by its copy."""
    run(backend, slots.cover, NOON, at(1))
    slot = acquired(backend, slots)
    run(backend, slots.complete, slot)
    assert slot.task is not None
    run(backend, repository.recreate, slots.topic, Revivification.APPEND, [slot.task])
    assert covered(backend, slots, 1) == {"open": [0]}
    assert run(backend, slots.cover, NOON, at(1)) == ()
    run(backend, slots.complete, acquired(backend, slots))
    assert covered(backend, slots, 1) == {"done": [0]}


def test_an_unregistered_owner_can_not_acquire(backend: Backend, slots: Slots, topic: str) -> None:
    """As with any poll (P7)."""
    run(backend, slots.cover, NOON, at(1))
    stranger = TimeSlots(backend.repository("stranger", register=False), topic, FIVE)
    with pytest.raises(UnknownOwnerError):
        run(backend, stranger.acquire)


def test_what_is_no_slot_is_named(backend: Backend, slots: Slots, repository: Repository, topic: str) -> None:
    """A topic holds its slots alone."""
    run(backend, repository.push, topic, "1 mistake")
    with pytest.raises(InvalidTaskError, match=r"1 mistake .* is no slot"):
        run(backend, slots.acquire)


# Outcomes ---------------------------------------------------------------------------------------------------


@CLAIMS
@pytest.mark.parametrize("outcome", ["complete", "skip"])
def test_a_slot_is_done_or_skipped(backend: Backend, slots: Slots, claim: Claim, outcome: str) -> None:
    """With its time and message, in the transaction of the work (S3-08, S3-10, S3-B4)."""
    run(backend, slots.cover, NOON, at(1))
    with backend.begin() as tx:
        slot = slots.acquire(tx, claim=claim)
        assert slot is not None
        getattr(slots, outcome)(tx, slot, "12 rows")
    coverage = run(backend, slots.coverage, NOON, at(1))
    name = {"complete": "done", "skip": "skipped"}[outcome]
    assert shape(coverage) == {name: [0]}
    assert coverage.covered
    [found] = getattr(coverage, name)
    assert (found.message, found.holder, found.failures) == ("12 rows", "me", 0)
    assert found.completed is not None
    assert found.acquired is not None
    assert found.acquired <= found.completed
    assert run(backend, slots.acquire) is None
    assert run(backend, slots.cover, NOON, at(1)) == ()


@CLAIMS
def test_a_failed_slot_is_open_at_once(backend: Backend, slots: Slots, claim: Claim) -> None:
    """Failures add up exactly, and the last message stays with the slot (S3-09, S3-B4)."""
    run(backend, slots.cover, NOON, at(2))
    for number in range(1, 4):
        with backend.begin() as tx:
            slot = slots.acquire(tx, claim=claim)
            assert slot is not None
            assert (slot.start, slot.failures) == (NOON, number - 1)
            slots.fail(tx, slot, f"trouble {number}")
        coverage = run(backend, slots.coverage, NOON, at(2))
        assert shape(coverage) == {"failed": [0], "open": [1]}
        assert not coverage.covered
        [failed] = coverage.failed
        assert (failed.failures, failed.message, failed.holder) == (number, f"trouble {number}", "me")
    held = acquired(backend, slots)
    assert (held.failures, held.message) == (3, "trouble 3")
    run(backend, slots.complete, held, "at last")
    [done] = run(backend, slots.coverage, NOON, at(2)).done
    assert (done.failures, done.message) == (3, "at last")


def test_a_failed_slot_can_be_acquired_in_the_same_transaction(backend: Backend, slots: Slots) -> None:
    """It is open at once for the one who failed it too, under any claim (S3-09)."""
    run(backend, slots.cover, NOON, at(1))
    with backend.begin() as tx:
        for number, claim in enumerate([*Claim, *Claim]):
            slot = slots.acquire(tx, claim=claim)
            assert slot is not None
            assert slot.failures == number
            slots.fail(tx, slot)
    [failed] = run(backend, slots.coverage, NOON, at(1)).failed
    assert (failed.failures, failed.message) == (4, None)


def test_a_rolled_back_failure_is_not_counted(backend: Backend, slots: Slots) -> None:
    """The count is part of the transaction (S3-09, S3-12)."""
    run(backend, slots.cover, NOON, at(1))
    slot = acquired(backend, slots)
    tx = backend.open()
    slots.fail(tx, slot, "trouble")
    backend.rollback(tx)
    backend.close(tx)
    assert covered(backend, slots, 1) == {"held": [0]}
    run(backend, slots.fail, slot, "again")
    [failed] = run(backend, slots.coverage, NOON, at(1)).failed
    assert (failed.failures, failed.message) == (1, "again")


@CLAIMS
@pytest.mark.parametrize("outcome", ["complete", "skip", "fail"])
@pytest.mark.parametrize("before", ["complete", "skip", "fail"])
def test_a_second_outcome_is_refused(backend: Backend, slots: Slots, claim: Claim, outcome: str, before: str) -> None:
    """Whoever does not hold a slot any more can't decide it; the error names it, nothing is changed (S3-11, S3-B11)."""
    run(backend, slots.cover, NOON, at(1))
    with backend.begin() as tx:
        slot = slots.acquire(tx, claim=claim)
        assert slot is not None
        getattr(slots, before)(tx, slot, "first")
        with pytest.raises(LostTaskError, match=r"'2026-11-16T12:00:00.000000Z'.*nothing was changed"):
            getattr(slots, outcome)(tx, slot, "second")
    coverage = run(backend, slots.coverage, NOON, at(1))
    [(name, found)] = coverage
    assert name == {"complete": "done", "skip": "skipped", "fail": "failed"}[before]
    assert (found.message, found.failures) == ("first", int(before == "fail"))


@pytest.mark.parametrize("outcome", ["complete", "skip", "fail"])
def test_a_slot_that_is_not_held_can_not_be_decided(backend: Backend, slots: Slots, outcome: str) -> None:
    """Be it open, held by another, or missing (S3-11, S3-16, S3-B11)."""
    run(backend, slots.cover, NOON, at(2))
    other = TimeSlots(backend.repository("other"), slots.topic, FIVE)
    acquired(backend, other)
    coverage = run(backend, slots.coverage, NOON, at(3))
    assert shape(coverage) == {"held": [0], "open": [1], "missing": [2]}
    for number, (_, slot) in enumerate(coverage):
        with pytest.raises(LostTaskError, match=f"'2026-11-16T12:{5 * number:02}:00.000000Z'"):
            run(backend, getattr(slots, outcome), slot)
    assert shape(run(backend, slots.coverage, NOON, at(3))) == {"held": [0], "open": [1], "missing": [2]}


@CLAIMS
def test_work_decides_by_how_it_ends(backend: Backend, slots: Slots, claim: Claim) -> None:
    """Its text completes the slot, its error fails it and undoes what it did (S3-16)."""
    backend.sql("CREATE TABLE effect (name VARCHAR(20))")
    run(backend, slots.cover, NOON, at(2))

    def work(tx: Any, slot: TimeSlot) -> str:  # noqa: ANN401 - of any kind
        execute(tx, "INSERT INTO effect (name) VALUES (:name)", name=f"{slot.start:%H:%M}")
        if slot.failures < 2 and slot.start == NOON:
            raise ValueError("no " + "data")
        return "written"

    ends = []
    for _ in range(4):
        with backend.begin() as tx:
            slot = slots.acquire(tx, claim=claim)
            assert slot is not None
            ends.append((slot.start, slots.process(tx, slot, work)))
    assert ends == [(NOON, False), (NOON, False), (NOON, True), (at(1), True)]
    assert backend.sql("SELECT name FROM effect ORDER BY name") == [("12:00",), ("12:05",)]
    first, second = run(backend, slots.coverage, NOON, at(2)).done
    assert (first.failures, second.failures, first.message) == (2, 0, "written")


def test_the_trace_of_an_error_is_kept(backend: Backend, slots: Slots) -> None:
    """As with any decision, and a task that is not held is an error (S3-16)."""
    run(backend, slots.cover, NOON, at(1))

    def work(_tx: Any, slot: TimeSlot) -> str:  # noqa: ANN401 - of any kind
        raise ValueError(f"no data for {slot}")  # noqa: EM102, TRY003

    slot = acquired(backend, slots)
    assert not run(backend, slots.process, slot, work)
    [failed] = run(backend, slots.coverage, NOON, at(1)).failed
    assert failed.message is not None
    assert failed.message.startswith("Traceback")
    assert failed.message.endswith("no data for 2026-11-16T12:00:00+00:00 to 2026-11-16T12:05:00+00:00")
    with pytest.raises(LostTaskError):
        run(backend, slots.process, slot, work)


# Reopening --------------------------------------------------------------------------------------------------


def test_one_slot_is_reopened(backend: Backend, slots: Slots) -> None:
    """The one that the moment lies in; its failures stay counted, it is open and not failed (S3-13, S3-14)."""
    run(backend, slots.cover, NOON, at(3))
    run(backend, slots.fail, acquired(backend, slots), "trouble")
    for _ in range(3):
        run(backend, slots.complete, acquired(backend, slots))
    assert numbers(run(backend, slots.reopen, at(1) - timedelta(seconds=1))) == [0]
    coverage = run(backend, slots.coverage, NOON, at(3))
    assert shape(coverage) == {"open": [0], "done": [1, 2]}
    assert (coverage.open[0].failures, coverage.open[0].message) == (1, None)
    slot = acquired(backend, slots)
    assert (slot.start, slot.failures) == (NOON, 1)


def test_a_range_is_reopened(backend: Backend, slots: Slots) -> None:
    """Done and skipped slots are opened; what is open, failed or missing stays as it is (S3-13, S3-14)."""
    run(backend, slots.cover, NOON, at(5))
    for outcome in (slots.complete, slots.skip, slots.fail):
        run(backend, outcome, acquired(backend, slots))
        run(backend, lambda tx: slots.coverage(tx, NOON, at(5)))
    assert covered(backend, slots, 6) == {"done": [0], "skipped": [1], "failed": [2], "open": [3, 4], "missing": [5]}
    assert numbers(run(backend, slots.reopen, NOON, at(6))) == [0, 1]
    assert covered(backend, slots, 6) == {"open": [0, 1, 3, 4], "failed": [2], "missing": [5]}
    assert run(backend, slots.reopen, NOON, at(6)) == ()


def test_a_slot_that_an_operator_failed_is_reopened(backend: Backend, slots: Slots, repository: Repository) -> None:
    """A task that was decided as FAILED is not open, and a reopening makes it so."""
    run(backend, slots.cover, NOON, at(1))
    [task] = poll(backend, repository, slots.topic)
    run(backend, repository.complete, slots.topic, task, TaskDecision.failure("by hand"))
    [failed] = run(backend, slots.coverage, NOON, at(1)).failed
    assert failed.message == "by hand"
    assert run(backend, slots.acquire) is None
    run(backend, slots.reopen, NOON)
    assert covered(backend, slots, 1) == {"open": [0]}


def test_a_held_slot_is_not_reopened(backend: Backend, slots: Slots) -> None:
    """Its holder may have missed the late data, so that the whole call is refused, and names it (S3-14)."""
    run(backend, slots.cover, NOON, at(3))
    run(backend, slots.complete, acquired(backend, slots))
    held = acquired(backend, slots)
    with backend.begin() as tx, pytest.raises(TaskStateError, match="2026-11-16T12:05:00"):
        slots.reopen(tx, NOON, at(3))
    assert covered(backend, slots, 3) == {"done": [0], "held": [1], "open": [2]}
    run(backend, slots.complete, held)
    assert numbers(run(backend, slots.reopen, NOON, at(3))) == [0, 1]


def test_reopened_slots_can_be_acquired_in_the_same_transaction(backend: Backend, slots: Slots) -> None:
    """Those that were open too."""
    run(backend, slots.cover, NOON, at(2))
    run(backend, slots.complete, acquired(backend, slots))
    with backend.begin() as tx:
        slots.reopen(tx, NOON, at(2))
        found = [slots.acquire(tx) for _ in range(3)]
    assert [slot and slot.start for slot in found] == [at(0), at(1), None]


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

"""Slots are done, skipped or failed in the caller's transaction, and reopened."""

from datetime import timedelta
from typing import Any

import pytest

from task_api import Claim, LostTaskError, TaskDecision, TaskStateError
from task_processor.slots.slot import TimeSlot
from task_processor.slots.slots import TimeSlots
from tests.backends import Backend
from tests.backends.steps import info, poll
from tests.conformance.scenes import Repository, run
from tests.contention.plain_sql import execute
from tests.siblings.slot_scenes import CLAIMS, FIVE, NOON, Slots, acquired, at, covered, numbers, shape

pytestmark = [pytest.mark.backends("sqlite", "postgresql", "oracle"), pytest.mark.kinds("driver", "session")]


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


@CLAIMS
def test_a_failed_slot_is_open_whatever_the_clock_does(
    backend: Backend, slots: Slots, repository: Repository, claim: Claim
) -> None:
    """Its task is due since long ago, so that a clock that is set back keeps it from nobody (S3-09)."""
    run(backend, slots.cover, NOON, at(1))
    with backend.begin() as tx:
        slot = slots.acquire(tx, claim=claim)
        assert slot is not None
        slots.fail(tx, slot)
    assert slot.task is not None
    found = info(backend, repository, slots.topic, slot.task)
    assert found.due is not None
    assert found.due < found.created - timedelta(days=365)
    assert acquired(backend, slots).start == NOON


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

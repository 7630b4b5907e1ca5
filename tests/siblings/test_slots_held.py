"""Slots that another transaction holds at this moment."""

from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import pytest

from task_api import Claim, TaskStateError
from task_processor.slots.slots import TimeSlots
from tests.backends import Backend
from tests.conformance.scenes import Repository, run

# Where an open transaction does not keep all others out.
pytestmark = [pytest.mark.backends("postgresql", "oracle"), pytest.mark.kinds("driver", "session")]

Slots: TypeAlias = TimeSlots[Any]

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
FIVE = timedelta(minutes=5)


@pytest.fixture
def slots(backend: Backend, repository: Repository, topic: str) -> Slots:
    """Two slots of five minutes, of which the first is done."""
    slots = TimeSlots(repository, topic, FIVE)
    run(backend, slots.cover, NOON, NOON + 2 * FIVE)
    first = run(backend, slots.acquire)
    assert first is not None
    run(backend, slots.complete, first)
    return slots


def test_what_another_transaction_holds_is_passed_over(backend: Backend, slots: Slots, topic: str) -> None:
    """Nobody waits for it; with nothing else open there is nothing to acquire (S3-05, S3-06)."""
    run(backend, slots.cover, NOON, NOON + 3 * FIVE)
    tx = backend.open()
    held = slots.acquire(tx, claim=Claim.TRANSACTION)
    other = TimeSlots(backend.repository("other"), topic, FIVE)
    found = [run(backend, other.acquire) for _ in range(2)]
    backend.close(tx)
    assert held is not None
    assert [held.start, *(slot and slot.start for slot in found)] == [NOON + FIVE, NOON + 2 * FIVE, None]
    assert run(backend, other.acquire) == held


def test_a_slot_that_a_transaction_holds_is_not_reopened(backend: Backend, slots: Slots, topic: str) -> None:
    """Though it looks open: no late data is lost, nothing is waited for, nothing is changed (S3-14)."""
    other, tx = TimeSlots(backend.repository("other"), topic, FIVE), backend.open()
    held = other.acquire(tx, claim=Claim.TRANSACTION)
    assert held is not None
    with backend.begin() as mine:
        with pytest.raises(TaskStateError, match="2026-11-16T12:05:00"):
            slots.reopen(mine, NOON, NOON + 2 * FIVE)
        assert slots.coverage(mine, NOON, NOON + FIVE).covered
    other.complete(tx, held)
    backend.commit(tx)
    backend.close(tx)
    assert len(run(backend, slots.reopen, NOON, NOON + 2 * FIVE)) == 2


def test_a_slot_that_is_being_reopened_is_not_acquired(backend: Backend, slots: Slots, topic: str) -> None:
    """Also one that was open: whoever acquires it sees the late data (S3-14)."""
    tx = backend.open()
    slots.reopen(tx, NOON, NOON + 2 * FIVE)
    other = TimeSlots(backend.repository("other"), topic, FIVE)
    assert run(backend, other.acquire) is None
    backend.commit(tx)
    backend.close(tx)
    found = [run(backend, other.acquire) for _ in range(2)]
    assert [slot and slot.start for slot in found] == [NOON, NOON + FIVE]

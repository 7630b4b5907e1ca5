"""Slots of five minutes after noon, and how the tests of them tell which are where."""

from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import pytest

from task_api import Claim
from task_processor.slots.slot import COLLECTIONS, SlotCoverage, TimeSlot
from task_processor.slots.slots import TimeSlots
from tests.backends import Backend
from tests.conformance.scenes import run

Slots: TypeAlias = TimeSlots[Any]

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
FIVE = timedelta(minutes=5)
CLAIMS = pytest.mark.parametrize("claim", Claim, ids=lambda claim: claim.name)


def at(number: int) -> datetime:
    """The beginning of a slot after noon."""
    return NOON + number * FIVE


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

"""Slots with asyncio."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from task_processor.slots.slots import TimeSlots
from tests.backends import Backend
from tests.conformance.scenes import Repository

pytestmark = [pytest.mark.backends("sqlite", "postgresql"), pytest.mark.kinds("driver")]

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_slots_can_be_awaited(backend: Backend, repository: Repository, topic: str) -> None:
    """Through a connection's own way to run what is synchronous (P7)."""
    slots: TimeSlots[Any] = TimeSlots(repository, topic, HOUR)

    async def scenario() -> tuple[int, int]:
        engine = create_async_engine(backend.url.replace("sqlite:", "sqlite+aiosqlite:"))
        try:
            async with engine.begin() as tx:
                await tx.run_sync(slots.cover, NOON, NOON + 3 * HOUR)
                for decide in (slots.complete, slots.fail):
                    slot = await tx.run_sync(slots.acquire)
                    assert slot is not None
                    await tx.run_sync(decide, slot)
                await tx.run_sync(slots.reopen, NOON)
                coverage = await tx.run_sync(slots.coverage, NOON, NOON + 3 * HOUR)
                return len(coverage.open), len(coverage.failed)
        finally:
            await engine.dispose()

    assert asyncio.run(scenario()) == (2, 1)

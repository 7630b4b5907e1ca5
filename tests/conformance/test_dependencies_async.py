"""Waiting for the decision on a task without blocking a thread (S1-18 of BEHAVIOURS.md)."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from task_api import TaskState
from task_sql import AsyncTaskRepository, create_repository, prepare_sqlite
from tests.backends import Backend
from tests.backends.steps import push
from tests.conformance.scenes import TIMEOUT, Repository
from tests.conformance.waiters import decide, ref

pytestmark = pytest.mark.kinds("driver")
LONG = timedelta(seconds=2 * TIMEOUT)
"""Longer than any test waits for the end of a wait."""


@asynccontextmanager
async def connected(backend: Backend) -> AsyncIterator[tuple[AsyncEngine, AsyncTaskRepository]]:
    """An asynchronous engine for the same database, and a repository on it."""
    engine = create_async_engine(backend.url.replace("sqlite://", "sqlite+aiosqlite://"))
    if backend.name == "sqlite":
        prepare_sqlite(engine.sync_engine)
    try:
        yield engine, AsyncTaskRepository(create_repository(engine.sync_engine, owner="me"))
    finally:
        await engine.dispose()


def looking(engine: AsyncEngine, seen: asyncio.Semaphore) -> Callable[[], Any]:
    """Transactions of a waiter, each of which is told when it has ended."""

    @asynccontextmanager
    async def begin() -> AsyncIterator[Any]:
        async with engine.begin() as tx:
            yield tx
        seen.release()

    return begin


@pytest.mark.backends("sqlite", "postgresql")
def test_a_notification_wakes_those_who_await(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision itself ends the wait: were it not told, the next look would be in an hour (S1-10, S1-18)."""
    monkeypatch.setattr("task_sql.waiting._ALARMED", 3600.0)
    [task] = push(backend, repository, topic, "task")

    async def scenario() -> None:
        async with connected(backend) as (engine, waiter):
            seen = asyncio.Semaphore(0)
            begin = looking(engine, seen)
            waits = [asyncio.create_task(waiter.wait(begin, ref(task), LONG)) for _ in range(2)]
            for _ in range(4):  # each has looked once more after it began to listen
                await asyncio.wait_for(seen.acquire(), TIMEOUT)
            await asyncio.to_thread(decide, backend, repository, topic, task)
            found = await asyncio.wait_for(asyncio.gather(*waits), TIMEOUT)
        assert [(each, each.state) for each in found] == [(task, TaskState.SUCCEEDED)] * 2

    asyncio.run(scenario())


@pytest.mark.backends("sqlite", "postgresql")
def test_a_cancelled_wait_leaves_nothing_behind(backend: Backend, repository: Repository, topic: str) -> None:
    """No thread and no connection goes on to listen (S1-18, S1-B4)."""
    [task] = push(backend, repository, topic, "task")

    async def scenario() -> None:
        async with connected(backend) as (engine, waiter):
            before = {thread.name for thread in threading.enumerate()}
            seen = asyncio.Semaphore(0)
            waiting = asyncio.create_task(waiter.wait(looking(engine, seen), ref(task)))
            for _ in range(2):
                await asyncio.wait_for(seen.acquire(), TIMEOUT)
            waiting.cancel()
            await asyncio.wait({waiting}, timeout=TIMEOUT)
            assert waiting.cancelled()
            left = {thread.name for thread in threading.enumerate()} - before
            assert not [name for name in left if "notifier" in name.lower()]
            with pytest.raises(TimeoutError):
                await waiter.wait(engine.begin, ref(task), timedelta(0))

    asyncio.run(scenario())
    if backend.name == "postgresql":
        listening = "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
        assert backend.sql(listening) == []

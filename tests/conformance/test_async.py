"""The asynchronous façade, on AsyncConnection and AsyncSession (P7)."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, TypeAlias

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from task_api import (
    Dependency,
    Insertion,
    InvalidTaskError,
    LostTaskError,
    Revivification,
    Snapshot,
    TaskCreation,
    TaskDecision,
    TaskRef,
    TaskRepository,
    TaskResult,
    TaskState,
    UnknownTopicError,
)
from task_api import chain as task_chain
from task_sql import AsyncTaskRepository, create_repository, prepare_sqlite
from tests.backends import Backend
from tests.backends.steps import push, states
from tests.conformance.scenes import TIMEOUT, Repository

pytestmark = pytest.mark.kinds("driver")
spoken_to = pytest.mark.backends("sqlite", "postgresql")  # python-oracledb's connections for asyncio are not

Begin: TypeAlias = Callable[[AsyncEngine], AbstractAsyncContextManager[Any]]
Scenario: TypeAlias = Callable[[AsyncEngine, AsyncTaskRepository], Awaitable[None]]


def begin_connection(engine: AsyncEngine) -> AbstractAsyncContextManager[Any]:
    """A connection in a transaction."""
    return engine.begin()


def begin_session(engine: AsyncEngine) -> AbstractAsyncContextManager[Any]:
    """A session in a transaction."""
    return _Session(engine)


class _Session:
    """A session that commits or rolls back when the block ends, and closes."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._session = AsyncSession(engine)

    async def __aenter__(self) -> AsyncSession:
        await self._session.begin()
        return self._session

    async def __aexit__(self, kind: object, *rest: object) -> None:
        await (self._session.commit() if kind is None else self._session.rollback())
        await self._session.close()


both = pytest.mark.parametrize("begin", [begin_connection, begin_session], ids=["connection", "session"])


def go(backend: Backend, scenario: Scenario) -> None:
    """Run a scenario on an asynchronous engine for the same database."""

    async def main() -> None:
        engine = create_async_engine(backend.url.replace("sqlite://", "sqlite+aiosqlite://"))
        if backend.name == "sqlite":
            prepare_sqlite(engine.sync_engine)
        try:
            await scenario(engine, AsyncTaskRepository(create_repository(engine, "me")))
        finally:
            await engine.dispose()

    asyncio.run(asyncio.wait_for(main(), TIMEOUT))


def test_the_facade_has_every_method() -> None:
    """Each is a coroutine with the parameters of its twin (DESIGN 3)."""
    names = {name for name in dir(TaskRepository) if not name.startswith("_")} - {"owner"}

    for name in names:
        twin, method = getattr(TaskRepository, name), getattr(AsyncTaskRepository, name)
        assert inspect.iscoroutinefunction(method), name
        expected = [(each.name, each.kind, each.default) for each in inspect.signature(twin).parameters.values()]
        actual = [(each.name, each.kind, each.default) for each in inspect.signature(method).parameters.values()]
        assert actual == expected, name


@spoken_to
@both
def test_a_task_from_push_to_purge(backend: Backend, topic: str, begin: Begin) -> None:
    """Producing, consuming and operating work as they do without await (DESIGN 3)."""

    async def scenario(engine: AsyncEngine, repository: AsyncTaskRepository) -> None:
        async with begin(engine) as tx:
            one = await repository.push(tx, topic, TaskCreation("a", "in", "ref"))
            two, three = await repository.push_many(tx, topic, {"b": None, "c": "x"}, insertion=Insertion.REPLACE)
        async with begin(engine) as tx:
            held = await repository.poll(tx, topic, lease=timedelta(minutes=1))
            assert (held, held and held.input) == (one, "in")
            assert await repository.poll_many(tx, topic, 5) == [two, three]
        async with begin(engine) as tx:
            assert held is not None
            await repository.complete(tx, topic, held, TaskDecision.failure("boom"))
            info = await repository.task(tx, topic, one.sequence)
            assert info is not None
            assert (info.state, info.output, info.reference) == (TaskState.FAILED, "boom", "ref")
        async with begin(engine) as tx:
            await repository.reassign(tx, topic, {one: TaskResult.SUCCESS}, message="by hand")
            assert await repository.recreate(tx, topic, Revivification.RESET, [one]) == {one: one}
            assert await repository.count(tx, Snapshot.TOTAL) != {}
            assert await repository.page(tx, topic) == [one, two, three]
            assert await repository.resolve(tx, datetime(2001, 1, 1, tzinfo=UTC)) == one.sequence
            await repository.purge_all(tx, topic)
            assert await repository.destroy(tx, topic) is True

    go(backend, scenario)
    assert backend.sql("SELECT topic FROM task_topic") == []


@spoken_to
@both
def test_a_rollback_undoes_all(backend: Backend, repository: Repository, topic: str, begin: Begin) -> None:
    """The caller owns the transaction here too (P7)."""

    async def scenario(engine: AsyncEngine, asynchronous: AsyncTaskRepository) -> None:
        async def fail() -> None:
            async with begin(engine) as tx:
                await asynchronous.push(tx, topic, "a")
                assert await asynchronous.initialize(tx, "new") is True
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await fail()

    go(backend, scenario)
    assert states(backend, repository, topic) == {}
    assert backend.sql("SELECT topic FROM task_topic") == [(topic,)]


@spoken_to
@both
def test_errors_come_through_and_leave_it_usable(
    backend: Backend, repository: Repository, topic: str, begin: Begin
) -> None:
    """A lost task and an unknown topic are told as ever, and the transaction goes on (P7)."""
    (never_polled,) = push(backend, repository, topic, "a")

    async def scenario(engine: AsyncEngine, asynchronous: AsyncTaskRepository) -> None:
        async with begin(engine) as tx:
            with pytest.raises(LostTaskError) as caught:
                await asynchronous.complete(tx, topic, never_polled)
            assert caught.value.tasks == {never_polled}
            with pytest.raises(UnknownTopicError):
                await asynchronous.push(tx, "nowhere", "a")
            with pytest.raises(InvalidTaskError):
                await asynchronous.push(tx, "", "a")
            await asynchronous.push(tx, topic, "b")

    go(backend, scenario)
    assert list(states(backend, repository, topic).values()) == [TaskState.READY] * 2


@pytest.mark.backends("postgresql")
@both
def test_concurrent_polls_are_disjoint(backend: Backend, repository: Repository, topic: str, begin: Begin) -> None:
    """Open transactions of one event loop take different tasks without waiting (PO-16)."""
    pushed = push(backend, repository, topic, *(f"task-{n}" for n in range(40)))

    async def scenario(engine: AsyncEngine, asynchronous: AsyncTaskRepository) -> None:
        polled = asyncio.Barrier(4)

        async def consume() -> list[int]:
            async with begin(engine) as tx:
                tasks = await asynchronous.poll_many(tx, topic, 10)
                await polled.wait()
                return [task.sequence for task in tasks]

        taken = await asyncio.gather(*(consume() for _ in range(4)))
        assert sorted(chain.from_iterable(taken)) == [task.sequence for task in pushed]

    go(backend, scenario)


def test_what_is_no_async_transaction_is_refused(backend: Backend, topic: str) -> None:
    """The error names what was passed (P7)."""

    async def scenario(engine: AsyncEngine, asynchronous: AsyncTaskRepository) -> None:
        wrong: list[tuple[Any, str]] = [
            (None, "NoneType"),
            (engine, "AsyncEngine"),
            (backend.engine, "Engine"),
            ("text", "str"),
        ]
        for tx, says in wrong:
            with pytest.raises(InvalidTaskError, match=says):
                await asynchronous.push(tx, topic, "a")

    go(backend, scenario)


def test_the_facade_has_the_owner_of_its_repository(backend: Backend) -> None:
    """It is the same repository in other clothes (DESIGN 3)."""
    assert AsyncTaskRepository(create_repository(backend.engine, "somebody")).owner == "somebody"


@spoken_to
@both
def test_a_decision_is_waited_for(backend: Backend, topic: str, begin: Begin) -> None:
    """Before it is there, and after; a graph runs in its order (S1-18)."""

    async def scenario(engine: AsyncEngine, asynchronous: AsyncTaskRepository) -> None:
        async with begin(engine) as tx:
            first, last = await asynchronous.push_graph(tx, topic, task_chain("first", "last"))
            ref = TaskRef(topic, last.sequence)
            assert await asynchronous.predecessors(tx, ref) == [TaskRef(topic, first.sequence)]
            assert await asynchronous.dependents(tx, TaskRef(topic, first.sequence)) == [ref]
            other = await asynchronous.push(tx, topic, TaskCreation("other", suspended=True))
            await asynchronous.depend(tx, [Dependency(TaskRef(topic, other.sequence), ref)])

        async def work() -> None:
            for expected in (first, last):
                async with begin(engine) as tx:
                    task = await asynchronous.poll(tx, topic)
                    assert task == expected
                    await asynchronous.complete(tx, topic, expected if task is None else task)

        decided, _ = await asyncio.gather(asynchronous.wait(lambda: begin(engine), ref), work())
        assert (decided, decided.state) == (last, TaskState.SUCCEEDED)
        assert await asynchronous.wait(lambda: begin(engine), ref, timedelta()) == last
        with pytest.raises(TimeoutError, match="not decided"):
            await asynchronous.wait(lambda: begin(engine), TaskRef(topic, other.sequence), timedelta(milliseconds=50))

    go(backend, scenario)

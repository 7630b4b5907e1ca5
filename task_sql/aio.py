"""
The repository for asyncio: the same methods, awaitable, on SQLAlchemy's AsyncConnection or AsyncSession.

There is one implementation. SQLAlchemy runs it on the connection's own synchronous side, awaiting wherever the driver
does (``run_sync``), so that nothing blocks and no statement exists twice.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar, cast

from task_api import (
    FINISHED,
    INCEPTION,
    MAX_SEQUENCE,
    Claim,
    Condition,
    Counting,
    Dependency,
    Direction,
    Insertion,
    InvalidTaskError,
    Junction,
    Listing,
    NamedTask,
    Order,
    Revivification,
    Snapshot,
    Summary,
    Task,
    TaskCreation,
    TaskDecision,
    TaskGraph,
    TaskInfo,
    TaskRef,
    TaskRepository,
    TaskResult,
    TaskState,
)
from task_api.task import checked_ref

from .alarm import Alarm, engine_of
from .waiting import Patience, SqlWaiting

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session

__all__ = ["AsyncTaskRepository", "AsyncTransaction"]

AsyncTransaction: TypeAlias = "AsyncConnection | AsyncSession | async_scoped_session[Any]"

P = ParamSpec("P")
R = TypeVar("R")


class AsyncTaskRepository:
    """A repository whose calls are awaited; see `TaskRepository` for what each of them does."""

    def __init__(self, repository: TaskRepository[Any]) -> None:
        self._repository = repository

    @property
    def owner(self) -> str:
        """The name under which this repository claims tasks."""
        return self._repository.owner

    async def push(
        self,
        tx: AsyncTransaction,
        topic: str,
        creation: str | TaskCreation,
        *,
        insertion: Insertion = Insertion.APPEND,
    ) -> Task:
        """Push one task."""
        return await _run(tx, self._repository.push, topic, creation, insertion=insertion)

    async def push_many(
        self,
        tx: AsyncTransaction,
        topic: str,
        creations: Iterable[str | TaskCreation] | Mapping[str, str | None],
        *,
        insertion: Insertion = Insertion.APPEND,
    ) -> list[Task]:
        """Push tasks in their order."""
        return await _run(tx, self._repository.push_many, topic, creations, insertion=insertion)

    async def poll(
        self,
        tx: AsyncTransaction,
        topic: str,
        *,
        order: Order = Order.FIRST_IN_FIRST_OUT,
        condition: Condition = Condition.NONE,
        lease: timedelta | None = None,
        claim: Claim = Claim.COMMITTED,
        strict: bool = False,
    ) -> Task | None:
        """Claim the next task, if there is one."""
        return await _run(
            tx,
            self._repository.poll,
            topic,
            order=order,
            condition=condition,
            lease=lease,
            claim=claim,
            strict=strict,
        )

    async def poll_many(
        self,
        tx: AsyncTransaction,
        topic: str,
        size: int,
        *,
        order: Order = Order.FIRST_IN_FIRST_OUT,
        condition: Condition = Condition.NONE,
        lease: timedelta | None = None,
        claim: Claim = Claim.COMMITTED,
        strict: bool = False,
    ) -> list[Task]:
        """Claim up to ``size`` tasks, in order."""
        return await _run(
            tx,
            self._repository.poll_many,
            topic,
            size,
            order=order,
            condition=condition,
            lease=lease,
            claim=claim,
            strict=strict,
        )

    async def poll_between(
        self,
        tx: AsyncTransaction,
        topic: str,
        low: str | None,
        high: str | None,
        *,
        lease: timedelta | None = None,
        claim: Claim = Claim.COMMITTED,
    ) -> Task | None:
        """Claim the READY task of the lowest identifier from ``low`` on and below ``high``."""
        return await _run(tx, self._repository.poll_between, topic, low, high, lease=lease, claim=claim)

    async def complete(
        self, tx: AsyncTransaction, topic: str, task: Task, decision: TaskDecision = TaskDecision.SUCCESS
    ) -> None:
        """Decide one held task."""
        await _run(tx, self._repository.complete, topic, task, decision)

    async def complete_many(self, tx: AsyncTransaction, topic: str, decisions: Mapping[Task, TaskDecision]) -> None:
        """Decide held tasks, all of them or none."""
        await _run(tx, self._repository.complete_many, topic, decisions)

    async def release(self, tx: AsyncTransaction, topic: str, tasks: Iterable[Task]) -> None:
        """Give held tasks back unstarted."""
        await _run(tx, self._repository.release, topic, tasks)

    async def extend(self, tx: AsyncTransaction, topic: str, tasks: Iterable[Task], lease: timedelta) -> None:
        """Move the end of the claims on held tasks."""
        await _run(tx, self._repository.extend, topic, tasks, lease)

    async def checkpoint(
        self,
        tx: AsyncTransaction,
        topic: str,
        task: Task,
        input: str | None,  # noqa: A002 - the field
    ) -> None:
        """Replace a held task's input."""
        await _run(tx, self._repository.checkpoint, topic, task, input)

    async def promote(self, tx: AsyncTransaction, topic: str) -> int:
        """Make due tasks READY; return how many."""
        return await _run(tx, self._repository.promote, topic)

    async def next_due(self, tx: AsyncTransaction, topic: str) -> datetime | None:
        """Return the earliest due time of the topic's SUSPENDED tasks."""
        return await _run(tx, self._repository.next_due, topic)

    async def recreate(
        self, tx: AsyncTransaction, topic: str, revivification: Revivification, tasks: Iterable[Task]
    ) -> dict[Task, Task]:
        """Revive the named tasks, all of them or none."""
        return await _run(tx, self._repository.recreate, topic, revivification, tasks)

    async def recreate_state(
        self,
        tx: AsyncTransaction,
        topic: str,
        revivification: Revivification,
        state: TaskState,
        *,
        size: int = 1,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
    ) -> dict[Task, Task]:
        """Revive up to ``size`` tasks in exactly that state."""
        return await _run(
            tx,
            self._repository.recreate_state,
            topic,
            revivification,
            state,
            size=size,
            first=first,
            last=last,
        )

    async def junction(
        self,
        tx: AsyncTransaction,
        topic: str,
        groups: Iterable[Collection[str]],
        *,
        junction: Junction = Junction.SINGULAR,
    ) -> set[str]:
        """Make the SUSPENDED tasks of every complete group READY."""
        return await _run(tx, self._repository.junction, topic, groups, junction=junction)

    async def register(self, tx: AsyncTransaction) -> bool:
        """Make the owner known, and its heartbeat fresh; tell whether it is new."""
        return await _run(tx, self._repository.register)

    async def heartbeat(self, tx: AsyncTransaction) -> None:
        """Say that the owner is alive."""
        await _run(tx, self._repository.heartbeat)

    async def owners(self, tx: AsyncTransaction, timeout: timedelta) -> set[str]:  # noqa: ASYNC109 - an age
        """Return the other owners whose last heartbeat is younger than ``timeout``."""
        return await _run(tx, self._repository.owners, timeout)

    async def expire(self, tx: AsyncTransaction, timeout: timedelta) -> int:  # noqa: ASYNC109 - an age
        """Make ACTIVE tasks EXPIRED whose lease ended, or whose owner is silent."""
        return await _run(tx, self._repository.expire, timeout)

    async def purge_owners(self, tx: AsyncTransaction, timeout: timedelta) -> int:  # noqa: ASYNC109 - an age
        """Forget silent owners that no task names."""
        return await _run(tx, self._repository.purge_owners, timeout)

    async def eject(
        self,
        tx: AsyncTransaction,
        topic: str,
        task: Task,
        *,
        lease: timedelta | None = None,
        states: Collection[TaskState] = (TaskState.ACTIVE,),
    ) -> Task:
        """Take an ACTIVE task over at once, whoever holds it."""
        return await _run(tx, self._repository.eject, topic, task, lease=lease, states=states)

    async def initialize(self, tx: AsyncTransaction, topic: str) -> bool:
        """Make a topic known; tell whether it is new."""
        return await _run(tx, self._repository.initialize, topic)

    async def destroy(self, tx: AsyncTransaction, topic: str) -> bool:
        """Delete all tasks of a topic and forget it; tell whether it was known."""
        return await _run(tx, self._repository.destroy, topic)

    async def topics(self, tx: AsyncTransaction) -> set[str]:
        """Return the topics that are initialized."""
        return await _run(tx, self._repository.topics)

    async def activation(self, tx: AsyncTransaction, topic: str) -> bool | None:
        """Tell whether the topic is to be processed, or None if nobody has said so."""
        return await _run(tx, self._repository.activation, topic)

    async def activate(self, tx: AsyncTransaction, topic: str, active: bool) -> None:  # noqa: FBT001 - the value
        """Store whether the topic is to be processed."""
        await _run(tx, self._repository.activate, topic, active)

    async def reassign(
        self,
        tx: AsyncTransaction,
        topic: str,
        results: Mapping[Task, TaskResult],
        *,
        message: str | None = None,
    ) -> None:
        """Give tasks other results, all of them or none."""
        await _run(tx, self._repository.reassign, topic, results, message=message)

    async def reassign_all(
        self,
        tx: AsyncTransaction,
        topic: str,
        state: TaskState,
        result: TaskResult,
        *,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
        message: str | None = None,
        skip_locked: bool = False,
    ) -> int:
        """Give every task in a state and range another result; return how many."""
        return await _run(
            tx,
            self._repository.reassign_all,
            topic,
            state,
            result,
            first=first,
            last=last,
            message=message,
            skip_locked=skip_locked,
        )

    async def task(self, tx: AsyncTransaction, topic: str, sequence: int) -> TaskInfo | None:
        """Return everything about one task."""
        return await _run(tx, self._repository.task, topic, sequence)

    async def page(
        self,
        tx: AsyncTransaction,
        topic: str,
        *,
        start: int | datetime | None = None,
        size: int = 100,
        direction: Direction = Direction.FORWARD,
        listing: Listing = Listing(),  # noqa: B008 - immutable
    ) -> list[TaskInfo]:
        """Return up to ``size`` tasks after (or, backward, before) ``start``."""
        return await _run(
            tx,
            self._repository.page,
            topic,
            start=start,
            size=size,
            direction=direction,
            listing=listing,
        )

    async def between(
        self, tx: AsyncTransaction, topic: str, low: str | None, high: str | None, *, lock: bool = False
    ) -> list[TaskInfo]:
        """Return the tasks with identifiers from ``low`` on and below ``high``."""
        return await _run(tx, self._repository.between, topic, low, high, lock=lock)

    async def count(
        self,
        tx: AsyncTransaction,
        snapshot: Snapshot = Snapshot.TOTAL,
        counting: Counting = Counting(),  # noqa: B008 - immutable
        *,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
    ) -> dict[str, dict[TaskState, Summary]]:
        """Count tasks by topic and state."""
        return await _run(tx, self._repository.count, snapshot, counting, first=first, last=last)

    async def results(
        self, tx: AsyncTransaction, *, since: datetime | None = None, until: datetime | None = None
    ) -> dict[str, dict[TaskResult, int]]:
        """Count results by topic."""
        return await _run(tx, self._repository.results, since=since, until=until)

    async def purge(
        self,
        tx: AsyncTransaction,
        topic: str,
        *,
        states: Collection[TaskState] = FINISHED,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
    ) -> int:
        """Delete tasks in the given states; return how many."""
        return await _run(tx, self._repository.purge, topic, states=states, first=first, last=last)

    async def purge_all(self, tx: AsyncTransaction, topic: str) -> None:
        """Delete every task of the topic, in any state."""
        await _run(tx, self._repository.purge_all, topic)

    async def resolve(self, tx: AsyncTransaction, moment: datetime | date, *, preceding: bool = False) -> int:
        """Turn a moment into a sequence, over all topics."""
        return await _run(tx, self._repository.resolve, moment, preceding=preceding)

    async def depend(self, tx: AsyncTransaction, dependencies: Iterable[Dependency]) -> None:
        """Let tasks wait for others, all of them or none."""
        await _run(tx, self._repository.depend, dependencies)

    async def predecessors(self, tx: AsyncTransaction, ref: NamedTask) -> list[TaskRef]:
        """Return the tasks that this one waits for or waited for."""
        return await _run(tx, self._repository.predecessors, ref)

    async def dependents(self, tx: AsyncTransaction, ref: NamedTask) -> list[TaskRef]:
        """Return the tasks that wait or waited for this one."""
        return await _run(tx, self._repository.dependents, ref)

    async def push_graph(self, tx: AsyncTransaction, topic: str, graph: TaskGraph | TaskCreation | str) -> list[Task]:
        """Push a graph of tasks; return them in the order given."""
        return await _run(tx, self._repository.push_graph, topic, graph)

    async def wait(
        self,
        dispatcher: Callable[[], AbstractAsyncContextManager[AsyncTransaction]],
        ref: NamedTask,
        timeout: timedelta | None = None,  # noqa: ASYNC109 - the same as in TaskRepository
    ) -> TaskInfo:
        """Return the task as soon as it is decided, at once if it is."""
        named = checked_ref(ref)
        patience = Patience(named, timeout)
        loop, rung = asyncio.get_running_loop(), asyncio.Event()
        alarm = Alarm(named.topic, lambda: loop.call_soon_threadsafe(rung.set))
        look = cast("SqlWaiting[Any]", self._repository).look
        try:
            while True:
                async with dispatcher() as tx:
                    info, named = await _run(tx, look, named)
                    engine = engine_of(tx)
                if info:
                    return info
                pause = patience.pause(alarmed=alarm.set_up)
                if not await asyncio.to_thread(alarm.listen, engine):
                    with suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await rung.wait()
                    rung.clear()
        finally:
            await asyncio.to_thread(alarm.close)

    async def refresh(self, tx: AsyncTransaction) -> None:
        """Ask the database to renew its statistics on the tables."""
        await _run(tx, self._repository.refresh)


async def _run(tx: AsyncTransaction, method: Callable[Concatenate[Any, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
    run_sync = getattr(tx, "run_sync", None)
    if run_sync is None:
        kind = type(tx)
        message = (
            "an async transaction is a SQLAlchemy AsyncConnection or AsyncSession,"
            f" not {kind.__module__}.{kind.__qualname__}"
        )
        raise InvalidTaskError(message)
    result: R = await run_sync(method, *args, **kwargs)
    return result

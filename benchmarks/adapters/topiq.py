"""topiq through its public interface, the way its users write it."""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import count, cycle
from typing import Any, Final

# What an engine would import when it is made: once here, before processes are forked.
import sqlalchemy.dialects.postgresql.psycopg
import sqlalchemy.dialects.sqlite.pysqlite  # noqa: F401

from task_api import (
    Claim,
    Condition,
    Direction,
    Insertion,
    Snapshot,
    Task,
    TaskCreation,
    TaskDecision,
    TaskState,
)
from task_processor import TaskDispatcher, TaskLimiter, TaskListener, TaskManager, Worker, each
from task_sql import create_engine, create_notifier, create_repository, schema

from .adapter import BATCH, QUEUE, Adapter
from .topiq_transactions import PostgresConnections, SqliteConnections
from .work import Work

__all__ = ["Topiq", "TopiqAutocommit", "TopiqCalls", "TopiqDriver"]

_CHUNK: Final = 1000
_GROUP: Final = 10
_UNFINISHED: Final = (TaskState.ACTIVE, TaskState.READY, TaskState.EXPIRED, TaskState.SUSPENDED)
_SLOTS: Final = 4


class Marking(TaskListener):
    """Tells when tasks were decided for good."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def on_complete(self, topic: str, trace: object, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ARG002
        """Tell."""
        self._work.mark()


class Topiq(Adapter):
    """
    A `Worker` with an ``each`` handler, on transactions of SQLAlchemy's engine; it polls ahead where it can.

    Args:
        target: See `Adapter`.
        batch: See `Adapter`.
        claim: How tasks are held, by name.
        singular: Whether no two tasks of one identifier may be worked on at once.
        topics: Over how many topics the tasks are spread.
        crowded: Whether it is one of several workers, who are busy enough without polling ahead.

    """

    def __init__(
        self,
        target: str,
        *,
        batch: int = BATCH,
        claim: str = "COMMITTED",
        singular: bool = False,
        topics: int = 1,
        crowded: bool = False,
    ) -> None:
        super().__init__(target, batch=batch)
        self.topics = [QUEUE] if topics == 1 else [f"{QUEUE} {number}" for number in range(topics)]
        self.claim = Claim[claim]
        # SQLite has one writer at a time, whom a poll would hold up; identifiers that are worked on are blocked; and
        # managers of several topics, or several workers, work at the same time anyway.
        alone = topics == 1 and not crowded
        self.ahead = int(alone and "://" in target and not singular)
        self.condition = Condition.SINGULAR_BY_IDENTIFIER if singular else Condition.NONE
        self.engine = create_engine(target if "://" in target else f"sqlite:///{target}")
        self.repository = create_repository(self.engine)
        self.begin: TaskDispatcher[Any] = self.engine.begin
        # Identifiers rise over all processes, like the numbers of orders.
        self._numbers = count(time.monotonic_ns() // 1000)

    def setup(self) -> None:
        """Install the whole schema and initialize the topics."""
        with self.engine.begin() as tx:
            schema.install(tx)
            for topic in self.topics:
                self.repository.initialize(tx, topic)

    def push_one(self, payloads: Iterable[str]) -> None:
        """Push one task in each transaction."""
        for payload in payloads:
            with self.begin() as tx:
                self.repository.push(tx, QUEUE, self._creation(payload))

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Push one batch in each transaction, to the topics in turn."""
        for topic, batch in zip(cycle(self.topics), batches, strict=False):
            with self.begin() as tx:
                self.repository.push_many(tx, topic, {f"task {next(self._numbers)}": payload for payload in batch})

    def work(self, work: Work) -> None:
        """Run a worker."""
        limiter = TaskLimiter.unlimited() if len(self.topics) == 1 else TaskLimiter.bounded(_SLOTS)
        managers = [
            TaskManager(
                topic,
                self.repository,
                self.begin,
                each(lambda task: work.handle(task.input)),
                limiter=limiter,
                listener=Marking(work),
                condition=self.condition,
                size=self.batch,
                claim=self.claim,
                ahead=self.ahead,
            )
            for topic in self.topics
        ]
        worker = Worker(
            self.repository, self.begin, managers, notifier=create_notifier(self.engine), expiry=timedelta(hours=1)
        )
        work.ready()
        with worker:
            work.stopping.wait()

    def unfinished(self) -> int | None:
        """Count what is in such a state."""
        with self.begin() as tx:
            counts = self.repository.count(tx, Snapshot.TOTAL)
        return sum(states[state].count for states in counts.values() for state in _UNFINISHED if state in states)

    def close(self) -> None:
        """Close the engine's connections."""
        self.engine.dispose()

    def push_hot(self, number: int, identifiers: int) -> None:
        """Push tasks that share few identifiers."""
        self._push_all(TaskCreation(f"hot {index % identifiers}", "x" * 100) for index in range(number))

    def block(self, number: int) -> None:
        """Push tasks of one identifier, the first of which somebody else holds."""
        self._push_all(TaskCreation("blocked", "x" * 100) for _ in range(number))
        holder = create_repository(self.engine, owner="holder")
        with self.engine.begin() as tx:
            holder.register(tx)
            holder.poll(tx, QUEUE)

    def push_known(self, number: int, insertion: str) -> None:
        """Push a task for each of so many identifiers, over those that there are."""
        self._push_all((TaskCreation(f"known {index}", "x" * 100) for index in range(number)), Insertion[insertion])

    def push_suspended(self, number: int) -> None:
        """Push tasks that wait for a junction."""
        self._push_all(TaskCreation(f"wait {index}", suspended=True) for index in range(number))

    def join(self, number: int) -> int:
        """Release those tasks by junctions of ten, a hundred in each transaction; return how many were released."""
        released = 0
        for start in range(0, number, _CHUNK):
            groups = [
                [f"wait {index}" for index in range(first, min(first + _GROUP, number))]
                for first in range(start, min(start + _CHUNK, number), _GROUP)
            ]
            with self.begin() as tx:
                released += len(self.repository.junction(tx, QUEUE, groups))
        return released

    def count(self) -> None:
        """Count all by state."""
        with self.begin() as tx:
            self.repository.count(tx, Snapshot.TOTAL)

    def page(self, pages: int) -> None:
        """Read pages from the middle on."""
        with self.begin() as tx:
            [last] = self.repository.page(tx, QUEUE, size=1, direction=Direction.BACKWARD)
            start = middle = last.sequence // 2
            for _ in range(pages):
                found = self.repository.page(tx, QUEUE, start=start)
                start = found[-1].sequence if found else middle

    def purge(self) -> int:
        """Delete what is finished."""
        with self.begin() as tx:
            return self.repository.purge(tx, QUEUE)

    def _creation(self, payload: str) -> TaskCreation:
        return TaskCreation(f"task {next(self._numbers)}", payload)

    def _push_all(self, creations: Iterable[TaskCreation], insertion: Insertion = Insertion.APPEND) -> None:
        waiting = iter(creations)
        while chunk := [creation for _, creation in zip(range(_CHUNK), waiting, strict=False)]:
            with self.begin() as tx:
                self.repository.push_many(tx, QUEUE, chunk, insertion=insertion)


class TopiqAutocommit(Topiq):
    """The same, but pushing one by one on a SQLAlchemy connection in autocommit mode."""

    def push_one(self, payloads: Iterable[str]) -> None:
        """Push one task with each call, which is the transaction."""
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for payload in payloads:
                self.repository.push(connection, QUEUE, self._creation(payload))


class TopiqDriver(Topiq):
    """The same, on connections of psycopg or sqlite3."""

    def __init__(self, target: str, **options: Any) -> None:
        super().__init__(target, **options)
        connections = PostgresConnections(target) if "://" in target else SqliteConnections(target)
        self.connections = connections
        self.begin = connections

    def push_one(self, payloads: Iterable[str]) -> None:
        """Push one task with each call: on a connection in autocommit mode that is the transaction."""
        connection = self.connections.connection
        for payload in payloads:
            self.repository.push(connection, QUEUE, self._creation(payload))


class TopiqCalls(TopiqDriver):
    """The repository's calls in a loop of one's own, on connections of psycopg or sqlite3."""

    def work(self, work: Work) -> None:
        """Poll, handle, complete."""
        with self.begin() as tx:
            self.repository.register(tx)
        work.ready()
        work.begin()
        for topic in cycle(self.topics):
            if work.stopping.is_set():
                break
            self._turn(work, topic)

    def _turn(self, work: Work, topic: str) -> None:
        if self.claim is Claim.TRANSACTION:
            with self.begin() as tx:
                tasks = self._poll(tx, topic)
                self._handle(work, tasks)
                self._complete(tx, topic, tasks)
        else:
            with self.begin() as tx:
                tasks = self._poll(tx, topic)
            self._handle(work, tasks)
            with self.begin() as tx:
                self._complete(tx, topic, tasks)
        if tasks:
            work.mark()

    def _poll(self, tx: Any, topic: str) -> list[Task]:  # noqa: ANN401 - of either driver
        return self.repository.poll_many(tx, topic, self.batch, condition=self.condition, claim=self.claim)

    @staticmethod
    def _handle(work: Work, tasks: list[Task]) -> None:
        for task in tasks:
            work.handle(task.input or "")

    def _complete(self, tx: Any, topic: str, tasks: list[Task]) -> None:  # noqa: ANN401 - of either driver
        self.repository.complete_many(tx, topic, dict.fromkeys(tasks, TaskDecision.SUCCESS))

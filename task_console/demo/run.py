"""Producers and a worker at once, until everything is decided; then what became of it."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import text

import task_sql
from task_api import FINISHED, Task, TaskDecision, TaskState
from task_processor import TaskListener, Worker
from task_sql.registry import dialect_of

from .shop import INVOICES, ORDERS, TOPICS, expected, order, prepare, processors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection, Engine

    from task_api import TaskRepository

__all__ = ["Observer", "Outcome", "TopicOutcome", "run"]

_PRODUCERS = 2
_BATCH = 50
_SAMPLE = 20_000
_LOOK = 0.05
_IDLE = 3
_PATIENCE = timedelta(seconds=30)
_SIGNALLED = 0.5
"""A signal that comes just before a wait is heard after it."""


class Observer(Protocol):
    """Something that is told how far a topic has come."""

    def __call__(self, topic: str, done: int, total: int) -> None:
        """Take note that ``done`` of ``total`` tasks of the topic are decided."""


@dataclass(frozen=True, slots=True)
class TopicOutcome:
    """What became of the tasks of a topic."""

    states: dict[TaskState, int]
    """How many ended in which state."""
    retried: int
    """How often a task failed and was tried again."""
    median: timedelta
    """How long half of the tasks took at most, from their push to their decision."""
    slow: timedelta
    """How long 95 % of the tasks took at most."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the demonstration did."""

    database: str
    """The database's kind."""
    topics: dict[str, TopicOutcome]
    """What became of the tasks, by topic."""
    effects: int
    """How many rows the tasks wrote in the transactions that decided them."""
    seconds: float
    """How long it took."""

    @property
    def tasks(self) -> int:
        """How many tasks were decided."""
        return sum(sum(topic.states.values()) for topic in self.topics.values())

    @property
    def invoiced(self) -> int:
        """How many invoices succeeded; as many as there are effects."""
        return self.topics[INVOICES].states.get(TaskState.SUCCEEDED, 0)


class _Tally(TaskListener):
    """Counts decisions, on whatever thread they are made."""

    def __init__(self, totals: Mapping[str, int]) -> None:
        self._changed = threading.Condition()
        self._totals = totals
        self._last = time.monotonic()
        self.done = dict.fromkeys(TOPICS, 0)
        self.retried = dict.fromkeys(TOPICS, 0)

    def on_complete(self, topic: str, trace: object, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ARG002
        final = sum(decision.due is None for decision in decisions.values())
        with self._changed:
            self.done[topic] += final
            self.retried[topic] += len(decisions) - final
            self._last = time.monotonic()
            self._changed.notify_all()

    def wait(self) -> bool:
        """Wait a moment, and tell whether everything is decided."""
        with self._changed:
            return self._changed.wait_for(lambda: self.done == self._totals, _LOOK)

    def idle(self, seconds: float) -> bool:
        """Tell whether nothing was decided for so long."""
        with self._changed:
            return time.monotonic() - self._last > seconds


def run(engine: Engine, orders: int, observe: Observer) -> Outcome:
    """Install the schema, push so many orders, and have everything decided that follows from them."""
    stopped = threading.Event()
    # On another thread, so that no signal cuts into a transaction: it ends this one's wait, and what runs is stopped.
    with ThreadPoolExecutor(1, thread_name_prefix="topiq-demo") as aside:
        running = aside.submit(_run, engine, orders, observe, stopped)
        try:
            while not wait([running], _SIGNALLED).done:
                pass
        finally:
            stopped.set()
    return running.result()


def _run(engine: Engine, orders: int, observe: Observer, stopped: threading.Event) -> Outcome:
    repository: TaskRepository[Any] = task_sql.create_repository(engine)
    with engine.begin() as tx:
        task_sql.schema.install(tx)
        prepare(tx, repository)
    totals = expected(orders)
    tally = _Tally(totals)
    worker = Worker(
        repository,
        engine.begin,
        processors(engine, repository, tally),
        promotion=timedelta(milliseconds=100),
    )
    started = time.perf_counter()
    worker.start(_PATIENCE)
    try:
        with ThreadPoolExecutor(_PRODUCERS, thread_name_prefix="topiq-producer") as pool:
            shares = [range(first, orders, _PRODUCERS) for first in range(_PRODUCERS)]
            producers = [pool.submit(_produce, engine, repository, share, stopped) for share in shares]
            try:
                while not (tally.wait() or stopped.is_set()):
                    _tell(tally, totals, observe)
                    pushed = [producer.result() for producer in producers if producer.done()]
                    if len(pushed) == len(producers) and tally.idle(_IDLE) and not _open(engine, repository):
                        break  # something went otherwise than planned; what became of it is shown
            finally:
                stopped.set()
        seconds = time.perf_counter() - started
        _tell(tally, totals, observe)
    finally:
        worker.stop(timedelta(seconds=5))
    with engine.begin() as tx:
        return _outcome(tx, repository, tally, seconds)


def _produce(engine: Engine, repository: TaskRepository[Any], numbers: Sequence[int], stopped: threading.Event) -> None:
    for start in range(0, len(numbers), _BATCH):
        if stopped.is_set():
            return
        with engine.begin() as tx:
            repository.push_many(tx, ORDERS, [order(number) for number in numbers[start : start + _BATCH]])


def _open(engine: Engine, repository: TaskRepository[Any]) -> bool:
    """Tell whether any task is yet to be decided."""
    with engine.begin() as tx:
        counts = repository.count(tx)
    return any(state not in FINISHED for states in counts.values() for state in states)


def _tell(tally: _Tally, totals: Mapping[str, int], observe: Observer) -> None:
    for topic in TOPICS:
        observe(topic, tally.done[topic], totals[topic])


def _outcome(tx: Connection, repository: TaskRepository[Any], tally: _Tally, seconds: float) -> Outcome:
    effects = tx.execute(text("SELECT COUNT(*) FROM demo_invoice")).scalar_one()
    counts = repository.count(tx)
    latencies = _latencies(tx, sum(tally.done.values()))
    topics = {}
    for topic in TOPICS:
        times = sorted(latencies.get(topic, ())) or [timedelta()]
        topics[topic] = TopicOutcome(
            {state: summary.count for state, summary in sorted(counts[topic].items())},
            tally.retried[topic],
            times[len(times) // 2],
            times[len(times) * 95 // 100],
        )
    return Outcome(tx.dialect.name, topics, int(effects), seconds)


def _latencies(tx: Connection, tasks: int) -> dict[str, list[timedelta]]:
    """Return how long tasks took, of a sample if there are many."""
    step = tasks // _SAMPLE + 1
    statement = text(
        "SELECT topic, created, completed FROM task WHERE completed IS NOT NULL AND mod(sequence, :step) = 0"
    )
    if tx.dialect.name == "sqlite":
        statement = text(
            "SELECT topic, created, completed FROM task WHERE completed IS NOT NULL AND sequence % :step = 0"
        )
    read = dialect_of(tx).read_moment
    found: dict[str, list[timedelta]] = {}
    for topic, created, completed in tx.execute(statement, {"step": step}):
        begun, ended = read(created), read(completed)
        if begun is not None and ended is not None:
            found.setdefault(topic, []).append(ended - begun)
    return found

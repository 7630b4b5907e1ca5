"""The loop that polls one topic, from one start to its end."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final, Generic, TypeVar

from task_api import Claim, Condition, Order, Task

from .committed import CommittedBatch
from .handler import TaskHandler, TaskHandlerFactory, lend
from .limiter import TaskLimiter, TaskToken
from .listener import LOGGER
from .retry import backoff_delay
from .transactional import TransactionalBatch
from .work import Work

__all__ = ["PollLoop", "Polling"]

T = TypeVar("T")

_SHORTEST: Final = timedelta(milliseconds=50)
_LONG: Final = timedelta(seconds=1)
_LONGEST: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Polling:
    """What to poll, and how often."""

    size: int
    """How many tasks make a batch at most."""
    order: Order
    """Which end of the topic to take from."""
    condition: Condition
    """Which tasks to leave alone because of their siblings."""
    lease: timedelta | None
    """How long a claim lasts at most."""
    claim: Claim
    """How the tasks are held."""
    pause: timedelta
    """How long to wait after a poll that found nothing."""


class PollLoop(Generic[T]):
    """One run on a named thread of its own."""

    def __init__(
        self,
        work: Work[T],
        polling: Polling,
        limiter: TaskLimiter,
        handler_factory: TaskHandlerFactory,
        executor: Executor | None,
    ) -> None:
        self._work = work
        self._polling = polling
        self._limiter = limiter
        self._handler_factory = handler_factory
        self._executor = executor
        self._lock = threading.Lock()
        self._begun = threading.Event()
        self._ended = threading.Event()
        self._stopping = threading.Event()
        # Latched: set by resume and stop at any time, cleared before a poll, so that no request is lost.
        self._wake = threading.Event()
        self._waiting: TaskToken | None = None
        self._failures = 0
        self._thread = threading.Thread(target=self._main, name=f"task-manager-{work.topic}", daemon=True)

    @property
    def begun(self) -> bool:
        """Whether the handler was made, or could not be."""
        return self._begun.is_set()

    @property
    def alive(self) -> bool:
        """Whether the loop has not ended yet."""
        return not self._ended.is_set()

    def start(self, timeout: float | None) -> bool:
        """Begin; tell whether that happened in time. Otherwise nothing will ever be polled."""
        self._thread.start()
        if self._begun.wait(timeout):
            return True
        # Critical section: either it has begun after all, or it never will.
        with self._lock:
            if not self._begun.is_set():
                self._stopping.set()
            return self._begun.is_set()

    def resume(self) -> None:
        """End the present or the next pause."""
        self._wake.set()

    def request_stop(self) -> None:
        """Ask the loop to end after the batch that it works on."""
        # Critical section: a token is either seen here, or the loop sees that it is to stop.
        with self._lock:
            self._stopping.set()
            waiting = self._waiting
        self._wake.set()
        if waiting is not None:
            waiting.cancel()

    def join(self, timeout: float | None) -> bool:
        """Wait for the end; tell whether it came in time. The loop's own thread does not wait for itself."""
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)
            return not self._thread.is_alive()
        return True

    def _main(self) -> None:
        try:
            handler = self._handler()
            if handler is not None:
                self._run(handler)
        finally:
            self._ended.set()
            self._begun.set()

    def _handler(self) -> TaskHandler | None:
        try:
            return lend(self._executor, self._handler_factory(self._work.topic))
        except BaseException as error:  # noqa: BLE001 - reported
            self._work.reporter.fatal(error)
            return None

    def _run(self, handler: TaskHandler) -> None:
        try:
            # Critical section: see start.
            with self._lock:
                if self._stopping.is_set():
                    return
                self._begun.set()
            if self._polling.claim is Claim.COMMITTED:
                self._loop(lambda token: self._committed(handler, token))
            else:
                with ThreadPoolExecutor(1, thread_name_prefix=f"task-handler-{self._work.topic}") as second:
                    self._loop(lambda token: self._transactional(handler, second, token))
        except BaseException as error:  # noqa: BLE001 - reported
            self._work.reporter.fatal(error)
        finally:
            self._finish(handler)

    def _finish(self, handler: TaskHandler) -> None:
        for step in (handler.close, self._work.recover):
            try:
                step()
            except BaseException as error:  # noqa: BLE001 - reported
                self._work.reporter.fatal(error)

    def _loop(self, turn: Callable[[TaskToken], bool]) -> None:
        while True:
            self._wake.clear()
            token = self._acquire()
            if token is None:
                return
            try:
                found = turn(token)
            except BaseException as error:  # noqa: BLE001 - reported; the database may come back
                self._work.reporter.fatal(error)
                self._give_slot_back(token)
                self._back_off()
            else:
                self._failures = 0
                if not found:
                    self._work.reporter.empty()
                    self._give_slot_back(token)
                    self._wake.wait(self._polling.pause.total_seconds())

    def _acquire(self) -> TaskToken | None:
        """Wait for a slot; None when the loop is to end."""
        if self._stopping.is_set():
            return None
        token = self._limiter.request(self._work.topic)
        # Critical section: see request_stop.
        with self._lock:
            self._waiting = token
            stopping = self._stopping.is_set()
        if not stopping and token.wait() and not self._stopping.is_set():
            self._waiting = None
            return token
        self._give_slot_back(token)
        return None

    def _give_slot_back(self, token: TaskToken) -> None:
        try:
            token.release()
        except BaseException:  # noqa: BLE001 - logged; what was decided stands
            LOGGER.exception("topic %r: the limiter raised when a slot was given back", self._work.topic)

    def _committed(self, handler: TaskHandler, token: TaskToken) -> bool:
        self._work.recover()
        tasks: list[Task] = []
        try:
            with self._work.dispatcher() as tx:
                tasks = self._poll(tx)
        except BaseException:
            # The commit may have worked although its answer was lost: what is held then is given back.
            self._work.strays.add(tasks)
            raise
        if tasks:
            CommittedBatch(self._work, tasks, partial(self._give_slot_back, token)).handle(handler)
        return bool(tasks)

    def _transactional(self, handler: TaskHandler, second: Executor, token: TaskToken) -> bool:
        batch = None
        try:
            with self._work.dispatcher() as tx:
                if tasks := self._poll(tx):
                    batch = TransactionalBatch(self._work, tasks, handler, second)
                    batch.decide(tx)
        except BaseException as error:
            if batch is not None:
                batch.rolled_back(partial(self._give_slot_back, token), error)
            raise
        if batch is not None:
            batch.committed(partial(self._give_slot_back, token))
        return batch is not None

    def _poll(self, tx: T) -> list[Task]:
        polling = self._polling
        return self._work.source.poll_many(
            tx,
            self._work.topic,
            polling.size,
            order=polling.order,
            condition=polling.condition,
            lease=polling.lease,
            claim=polling.claim,
        )

    def _back_off(self) -> None:
        self._failures += 1
        first = min(max(self._polling.pause, _SHORTEST), _LONG)
        self._wake.wait(backoff_delay(first, self._failures, _LONGEST).total_seconds())

"""The loop that polls one topic, from one start to its end."""

import threading
from collections.abc import Callable, Collection
from concurrent.futures import Executor
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Final, Generic, TypeVar

from task_api import Claim, Condition, Order, Task

from .ahead import Ahead
from .committed import CommittedBatch
from .deadline import seconds
from .dispatcher import transaction
from .handler import TaskHandler, TaskHandlerFactory, checked_handler, lend, lend_retry, room
from .lease import LeaseKeeper
from .limiter import TaskLimiter, TaskToken
from .listener import LOGGER
from .retry import backoff_delay
from .threads import DaemonExecutor
from .transactional import TransactionalBatch
from .turns import Turns
from .work import Work

__all__ = ["PollLoop", "Polling", "inside"]

T = TypeVar("T")

_SHORTEST: Final = timedelta(milliseconds=50)
_LONG: Final = timedelta(seconds=1)
_LONGEST: Final = timedelta(minutes=1)
_LOOP: ContextVar[object] = ContextVar("task_processor_loop", default=None)


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
    extend: bool
    """Whether leases are extended while the work goes on."""
    ahead: int
    """How many batches may be polled while one is worked on."""


class PollLoop(Generic[T]):
    """
    One run on a named thread of its own, which makes the handler, calls it and closes it.

    That thread polls too. If batches are polled ahead, a second one does so instead; or several do so in turn, where
    the thread that polls a batch has to work on it.
    """

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
        # Where batches wait that are polled ahead, if there are to be any.
        self._ahead: Ahead[T] | None = None
        # Where they wait if each has a thread, as transactional ones do.
        self._turns: Turns[T] | None = None
        # Where handlers of transactional batches run.
        self._second = DaemonExecutor(f"task-handler-{work.topic}", 1)
        self._thread = threading.Thread(target=self._main, name=f"task-manager-{work.topic}", daemon=True)

    @property
    def begun(self) -> bool:
        """Whether the handler was made, or could not be."""
        return self._begun.is_set()

    @property
    def alive(self) -> bool:
        """Whether the loop has not ended yet."""
        return not self._ended.is_set()

    @property
    def stopping(self) -> bool:
        """Whether the loop was asked to end."""
        return self._stopping.is_set()

    @property
    def own(self) -> bool:
        """Whether the caller is the loop, or work that it waits for, and so can't wait for its end."""
        return _LOOP.get() is self

    def works_for(self, owner: str, topics: Collection[str]) -> bool:
        """Whether it polls one of these topics as this owner."""
        return self._work.topic in topics and getattr(self._work.source, "owner", None) == owner

    def start(self, timeout: float | None) -> bool:
        """Begin; tell whether that happened in time. Otherwise nothing will ever be polled."""
        try:
            self._thread.start()
            begun = self._begun.wait(timeout)
        except BaseException:
            # An interrupt may come when the thread has begun all the same, or makes its handler.
            self.request_stop()
            if self._thread.ident is None:
                self._ended.set()
            raise
        if begun:
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
            waiting, queue = self._waiting, self._turns or self._ahead
        self._wake.set()
        if queue is not None:
            queue.close()
        if waiting is not None:
            waiting.cancel()

    def join(self, timeout: float | None) -> bool:
        """Wait for the end; tell whether it came in time. Nobody waits for himself."""
        if self.own:
            return True
        deadline = None if timeout is None else monotonic() + timeout
        # First, as a thread that is yet to be started, or could not be, can't be joined.
        if not self._ended.wait(timeout):
            return False
        if self._thread.ident is not None:
            self._thread.join(None if deadline is None else max(deadline - monotonic(), 0))
        return not self._thread.is_alive()

    def _main(self) -> None:
        _LOOP.set(self)
        try:
            handler = self._handler()
            if handler is not None:
                if self._begin(handler):
                    self._run(handler)
                else:
                    # It polled nothing: what is under way belongs to another run.
                    self._finish(handler.close)
        finally:
            self._ended.set()
            self._begun.set()

    def _handler(self) -> TaskHandler | None:
        try:
            handler = lend(self._executor, checked_handler(self._handler_factory(self._work.topic)))
            return lend_retry(self._work.retry, handler)
        except BaseException as error:  # noqa: BLE001 - reported
            self._work.reporter.fatal(error)
            return None

    def _begin(self, handler: TaskHandler) -> bool:
        """Tell whether anything is to be polled."""
        # Critical section: see start.
        with self._lock:
            if self._stopping.is_set():
                return False
            if self._polling.claim is Claim.TRANSACTION:
                self._turns = Turns(self._work.setback)
            elif limit := self._limit(handler):
                self._ahead = Ahead(limit)
            self._work.setback.clear()
            self._begun.set()
            return True

    def _limit(self, handler: TaskHandler) -> int:
        """How many batches may wait for their turn."""
        # A handler that tells its room tells it for one batch.
        return 0 if hasattr(handler, "room") else self._polling.ahead

    def _run(self, handler: TaskHandler) -> None:
        keeper = self._lease_keeper()
        try:
            if keeper is not None:
                keeper.start()
            if self._turns is not None:
                self._take_turns(handler, self._turns)
            elif self._ahead is not None:
                self._work_off(handler, self._ahead)
            else:
                self._loop(lambda token: self._committed(handler, token))
        except BaseException as error:  # noqa: BLE001 - reported
            self._work.reporter.fatal(error)
        finally:
            # A handler that was closed decides nothing any more; what it left undecided is given back.
            self._finish(handler.close, self._work.abandon, self._work.recover)
            if keeper is not None:
                keeper.stop()

    def _lease_keeper(self) -> LeaseKeeper[T] | None:
        polling = self._polling
        if polling.lease is None or not polling.extend or polling.claim is not Claim.COMMITTED:
            return None
        return LeaseKeeper(self._work, polling.lease)

    def _finish(self, *steps: Callable[[], object]) -> None:
        for step in steps:
            try:
                step()
            except BaseException as error:  # noqa: BLE001 - reported
                self._work.reporter.fatal(error)

    def _work_off(self, handler: TaskHandler, ahead: Ahead[T]) -> None:
        """Work on batches that another thread polls, one at a time."""
        name = f"task-poller-{self._work.topic}"
        poller = threading.Thread(target=self._poll_ahead, args=(handler, ahead), name=name, daemon=True)
        try:
            poller.start()
        except RuntimeError as error:
            # There is none to be had: this one has to poll, too.
            self._work.reporter.fatal(error)
            self._ahead = None
            self._loop(lambda token: self._committed(handler, token))
            return
        try:
            while (batch := ahead.get()) is not None:
                self._work_on(batch, handler, ahead)
                del batch  # nothing of it is kept alive while the next one is waited for
        finally:
            self.request_stop()
            poller.join()

    def _work_on(self, batch: CommittedBatch[T], handler: TaskHandler, ahead: Ahead[T]) -> None:
        if self._work.setback.is_set():
            # It was polled meanwhile: what could not begin a moment ago can't begin now either.
            batch.abandon()
            return
        batch.handle(handler)
        self._note_end()
        if self._work.setback.is_set():
            _abandon(ahead)
        if ahead.empty:
            # What kept others from being polled may be gone.
            self._wake.set()

    def _poll_ahead(self, handler: TaskHandler, ahead: Ahead[T]) -> None:
        self._loop_beside(lambda token: self._committed(handler, token))
        _abandon(ahead)

    def _take_turns(self, handler: TaskHandler, turns: Turns[T]) -> None:
        """Poll on one thread for each batch that may be there at once, and work there in turn."""
        limit = self._limit(handler)
        others = DaemonExecutor(f"task-poller-{self._work.topic}", limit)

        def turn(token: TaskToken) -> int:
            return self._transactional(handler, token, turns)

        try:
            try:
                for _ in range(limit):
                    others.submit(self._loop_beside, turn)
            except RuntimeError as error:
                # There is none to be had: this one suffices.
                self._work.reporter.fatal(error)
            self._loop(turn)
        finally:
            self.request_stop()
            others.shutdown()
            self._second.shutdown(wait=False)

    def _loop_beside(self, turn: Callable[[TaskToken], int | None]) -> None:
        """Loop on another thread, whose end is the end of all."""
        _LOOP.set(self)
        try:
            self._loop(turn)
        except BaseException as error:  # noqa: BLE001 - reported
            self._work.reporter.fatal(error)
        finally:
            self.request_stop()

    def _loop(self, turn: Callable[[TaskToken], int | None]) -> None:
        # A place first: nobody is to wait for a slot that this topic can't use yet.
        while not self._stopping.is_set() and self._place():
            if self._work.setback.is_set():
                # Whatever resumes: that tasks were given back is announced too, and to this very loop.
                self._back_off(self._stopping)
                if self._ahead is not None:
                    # What waits was polled after what could not be decided, and is given back first.
                    self._ahead.rest()
                self._work.setback.clear()
            self._wake.clear()
            token = self._acquire()
            if token is None:
                return
            try:
                found = turn(token)
            except BaseException as error:  # noqa: BLE001 - reported; the database may come back
                self._work.reporter.fatal(error)
                self._give_slot_back(token)
                self._back_off(self._wake)
            else:
                if not found:
                    # None: there was no room to poll for.
                    if found is not None:
                        self._work.reporter.empty()
                    self._give_slot_back(token)
                if not self._work.setback.is_set():
                    self._pause(found or 0)

    def _pause(self, found: int) -> None:
        """Wait if there is no more at present, or not before the work is done, which ends the pause."""
        if not found and not self._work.under_way():
            self._failures = 0
        if not found or (self._ahead is not None and found < self._polling.size):
            self._wake.wait(seconds(self._polling.pause))

    def _place(self) -> bool:
        """Wait until another batch may be polled; False when the loop is to end."""
        queue = self._turns or self._ahead
        return queue is None or queue.place()

    def _acquire(self) -> TaskToken | None:
        """Wait for a slot; None when the loop is to end."""
        token = self._limiter.request(self._work.topic)
        # Critical section: see request_stop.
        with self._lock:
            self._waiting = token
            stopping = self._stopping.is_set()
        try:
            granted = not stopping and token.wait()
        except BaseException:
            self._give_slot_back(token)
            raise
        finally:
            self._waiting = None
        if granted and not self._stopping.is_set():
            return token
        self._give_slot_back(token)
        if not self._stopping.is_set():
            message = f"the limiter gave topic {self._work.topic!r} no slot, although the request stands"
            raise RuntimeError(message)
        return None

    def _give_slot_back(self, token: TaskToken) -> None:
        try:
            token.release()
        except BaseException:  # noqa: BLE001 - logged; what was decided stands
            LOGGER.exception("topic %r: the limiter raised when a slot was given back", self._work.topic)

    def _committed(self, handler: TaskHandler, token: TaskToken) -> int | None:
        if self._work.setback.is_set():
            return None
        self._work.recover()
        if not (size := room(handler, self._polling.size)):
            return None
        tasks: list[Task] = []
        try:
            with transaction(self._work.dispatcher) as tx:
                tasks = self._poll(tx, size)
        except BaseException:
            # The commit may have worked although its answer was lost: what is held then is given back.
            self._work.strays.add(tasks)
            raise
        if tasks:
            batch = CommittedBatch(self._work, tasks, partial(self._give_slot_back, token))
            if self._stopping.is_set() or not (self._ahead is None or self._ahead.put(batch)):
                # Not begun, so it need not be finished.
                batch.abandon()
            elif self._ahead is None:
                batch.handle(handler)
                self._note_end()
        return len(tasks)

    def _transactional(self, handler: TaskHandler, token: TaskToken, turns: Turns[T]) -> int:
        batch: TransactionalBatch[T] | None = None
        try:
            with transaction(self._work.dispatcher) as tx:
                if tasks := self._poll(tx, self._polling.size):
                    batch = TransactionalBatch(self._work, tasks)
                    turns.wait(batch, last=len(tasks) < self._polling.size)
                    batch.begin(handler, self._second)
                    batch.decide(tx)
        except BaseException as error:
            if batch is None:
                raise
            self._rolled_back(batch, token, turns, error)
        else:
            if batch is not None:
                batch.committed(partial(self._give_slot_back, token))
                self._note_end()
        finally:
            if batch is not None:
                self._replace_thread(batch)
                if turns.leave(batch):
                    # What kept others from being polled may be gone.
                    self._wake.set()
        return len(tasks)

    def _rolled_back(
        self, batch: TransactionalBatch[T], token: TaskToken, turns: Turns[T], error: BaseException
    ) -> None:
        if not batch.abandoned:
            # They would be polled again at once, and worked on for nothing.
            self._work.setback.set()
        # What was polled after it does not come before it.
        turns.halt()
        batch.rolled_back(partial(self._give_slot_back, token), error)
        if not batch.abandoned:
            self._work.reporter.fatal(error)

    def _note_end(self) -> None:
        """Forget failures before a batch that could be decided."""
        if not self._work.setback.is_set():
            self._failures = 0

    def _replace_thread(self, batch: TransactionalBatch[T]) -> None:
        """Leave a thread to its handler that is no longer waited for."""
        if batch.detached:
            self._second.shutdown(wait=False)
            self._second = DaemonExecutor(f"task-handler-{self._work.topic}", 1)

    def _poll(self, tx: T, size: int) -> list[Task]:
        polling = self._polling
        tasks = self._work.source.poll_many(
            tx,
            self._work.topic,
            size,
            order=polling.order,
            condition=polling.condition,
            lease=polling.lease,
            claim=polling.claim,
        )
        self._work.reporter.polled()
        return tasks

    def _back_off(self, end: threading.Event) -> None:
        self._failures += 1
        first = min(max(self._polling.pause, _SHORTEST), _LONG)
        end.wait(backoff_delay(first, self._failures, _LONGEST).total_seconds())


def _abandon(ahead: Ahead[T]) -> None:
    """Give back what waits for its turn, the attempt not counted."""
    for batch in ahead.drop():
        batch.abandon()


def inside(owner: str, topics: Collection[str]) -> bool:
    """Tell whether the caller is the loop of one of these topics, or work that it waits for."""
    loop = _LOOP.get()
    return isinstance(loop, PollLoop) and loop.works_for(owner, topics)

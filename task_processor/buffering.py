"""Several batches at once: a queue in front of a handler, and workers behind it."""

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeAlias

from task_api import Task

from .closing import OnClose
from .handler import Callback, OnFailure, ShutdownError, TaskHandler, TaskHandlerFactory, lend, lend_retry
from .listener import LOGGER
from .number import checked_number
from .outcome import has_outcome
from .retry import RetryPolicy

__all__ = ["Baggage", "BufferingTaskHandlerFactory", "QueueObserver"]

Baggage: TypeAlias = Callable[[], Callable[[], object]]
"""Called where a batch is polled; gives a function to be called where the batch is worked on."""

QueueObserver: TypeAlias = Callable[[str, Collection[Sequence[Task]]], object]
"""Gets a topic and a live view of the batches that wait, once for each handler."""


class BufferingTaskHandlerFactory:
    """
    Makes handlers that put batches into a queue, from which workers take them.

    So the next batch is polled while others are worked on: one for each worker, ``buffer`` more wait, and one blocks
    the poll loop. Each worker is a named thread with a handler of its own. It sees the context variables of the
    thread that took the batch.

    Args:
        handler_factory: Makes the handler of each worker.
        buffer: How many batches may wait.
        workers: How many batches are worked on at once.
        executor: Where functions run that the workers' handlers are made of; by default on the workers' threads.
        on_close: What becomes of batches that wait when the handler is closed.
        baggage: Carries something else from the poll loop to the worker.
        observers: Get a view of the queue of each handler.

    """

    def __init__(
        self,
        handler_factory: TaskHandlerFactory,
        *,
        buffer: int,
        workers: int,
        executor: Executor | None = None,
        on_close: OnClose = OnClose.FINISH_PENDING,
        baggage: Baggage | None = None,
        observers: Iterable[QueueObserver] = (),
    ) -> None:
        self._handler_factory = handler_factory
        self._buffer = checked_number("buffer", buffer, 0)
        self._workers = checked_number("workers", workers)
        self._executor = executor
        self._on_close = on_close
        self._baggage = baggage
        self._observers = tuple(observers)

    def __call__(self, topic: str) -> TaskHandler:
        """Make the handler of a topic, with its workers."""
        delegates: list[TaskHandler] = []
        try:
            for _ in range(self._workers):
                delegates.append(lend(self._executor, self._handler_factory(topic)))  # noqa: PERF401 - those made so far are closed on an error
        except BaseException:
            for delegate in delegates:
                _close(delegate)
            raise
        queue = _Queue(self._buffer)
        for observer in self._observers:
            try:
                observer(topic, _View(queue))
            except Exception:  # noqa: BLE001 - logged
                LOGGER.exception("an observer of topic %r raised", topic)
        return _BufferingHandler(topic, queue, delegates, self._on_close, self._baggage)


@dataclass(frozen=True, slots=True)
class _Pending:
    """A batch that waits, with what it carries from the thread that took it."""

    tasks: Sequence[Task]
    callback: Callback
    on_failure: OnFailure
    context: contextvars.Context
    unpack: Callable[[], object] | None

    def run(self, delegate: TaskHandler) -> None:
        """Have the batch worked on; whatever is raised fails this batch alone."""
        try:
            self.context.run(self._run, delegate)
        except BaseException as error:  # noqa: BLE001 - reported through the batch
            try:
                self.on_failure(error)
            except BaseException:  # noqa: BLE001 - logged; only closing ends a worker
                LOGGER.exception("a batch could not be failed")

    def _run(self, delegate: TaskHandler) -> None:
        if has_outcome():
            # It was given back while it waited for its turn: others may have it now.
            return
        if self.unpack is not None:
            self.unpack()
        delegate(self.tasks, self.callback, self.on_failure)


class _Queue:
    """Batches between the poll loop and the workers. Everything is decided under one condition."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._changed = threading.Condition()
        self._waiting: deque[_Pending] = deque()
        self._idle = 0
        self._blocked = 0
        self._closing: OnClose | None = None
        self._ended = False

    def put(self, pending: _Pending) -> bool:
        """Wait for a place and take it; False when the batch is to be given up."""
        with self._changed:
            self._blocked += 1
            try:
                self._changed.wait_for(lambda: self._gives_up() or self._has_place())
                if self._gives_up():
                    return False
                self._waiting.append(pending)
                return True
            finally:
                self._blocked -= 1
                self._changed.notify_all()

    def get(self) -> _Pending | None:
        """Wait for a batch; None when there will be no more."""
        with self._changed:
            self._idle += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or (self._closing and not self._blocked))
            self._idle -= 1
            if self._waiting:
                pending = self._waiting.popleft()
                self._changed.notify_all()
                return pending
            self._ended = True
            self._changed.notify_all()
            return None

    def close(self, on_close: OnClose) -> list[_Pending]:
        """Take no more batches, and return those that are to be given up."""
        with self._changed:
            self._closing = on_close
            dropped = list[_Pending]()
            if on_close is OnClose.FAIL_PENDING:
                dropped += self._waiting
                self._waiting.clear()
            self._changed.notify_all()
            return dropped

    def batches(self) -> list[Sequence[Task]]:
        """The batches that wait."""
        with self._changed:
            return [pending.tasks for pending in self._waiting]

    def _has_place(self) -> bool:
        # An idle worker takes one at once, so that a queue of length zero hands batches over.
        return len(self._waiting) < self._length + self._idle

    def _gives_up(self) -> bool:
        return self._ended or self._closing is OnClose.FAIL_PENDING


class _View(Collection[Sequence[Task]]):
    """The batches that wait at the moment of each look."""

    def __init__(self, queue: _Queue) -> None:
        self._queue = queue

    def __len__(self) -> int:
        return len(self._queue.batches())

    def __iter__(self) -> Iterator[Sequence[Task]]:
        return iter(self._queue.batches())

    def __contains__(self, tasks: object) -> bool:
        return tasks in self._queue.batches()


class _BufferingHandler:
    def __init__(
        self, topic: str, queue: _Queue, delegates: list[TaskHandler], on_close: OnClose, baggage: Baggage | None
    ) -> None:
        self._topic = topic
        self._queue = queue
        self._on_close = on_close
        self._baggage = baggage
        self._delegates = delegates
        self._workers = [
            threading.Thread(target=self._work, args=(delegate,), name=f"task-worker-{topic}-{number}", daemon=True)
            for number, delegate in enumerate(delegates)
        ]
        for worker in self._workers:
            worker.start()

    def __call__(self, tasks: Sequence[Task], callback: Callback, on_failure: OnFailure, /) -> None:
        unpack = None if self._baggage is None else self._baggage()
        pending = _Pending(tasks, callback, on_failure, contextvars.copy_context(), unpack)
        if not self._queue.put(pending):
            self._give_up(pending)

    def use_executor(self, executor: Executor) -> None:
        for delegate in self._delegates:
            lend(executor, delegate)

    def use_retry(self, retry: RetryPolicy) -> None:
        for delegate in self._delegates:
            lend_retry(retry, delegate)

    def close(self) -> None:
        for pending in self._queue.close(self._on_close):
            self._give_up(pending)
        for worker in self._workers:
            worker.join()

    def _give_up(self, pending: _Pending) -> None:
        message = f"topic {self._topic!r}: the handler was closed before the batch was begun"
        pending.on_failure(ShutdownError(message))

    def _work(self, delegate: TaskHandler) -> None:
        try:
            while (pending := self._queue.get()) is not None:
                pending.run(delegate)
        finally:
            _close(delegate)


def _close(delegate: Any) -> None:  # noqa: ANN401 - a handler
    try:
        delegate.close()
    except BaseException:  # noqa: BLE001 - logged
        LOGGER.exception("a handler raised when it was closed")

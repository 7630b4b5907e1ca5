"""Processing that is switched on and off in the database."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Generic, TypeVar

from task_api import TaskRepository, UnknownTopicError

from .deadline import Deadline, seconds
from .dispatcher import TaskDispatcher, checked_dispatcher
from .processor import PATIENCE, TaskProcessor
from .statistics import TopicStatistics

__all__ = ["PersistentTaskProcessor"]

T = TypeVar("T")


class PersistentTaskProcessor(Generic[T]):
    """
    A processor whose start and stop are stored as a wish, for all processes and all times.

    The wish is stored whether or not the processor runs here, and it stands when a start fails. A program calls
    `initialize` and `shutdown`, which follow the stored wish and write nothing; people and other programs call
    `start` and `stop`.

    Args:
        processor: What does the work.
        repository: Where the wish is stored.
        dispatcher: Where transactions come from.

    """

    def __init__(self, processor: TaskProcessor, repository: TaskRepository[T], dispatcher: TaskDispatcher[T]) -> None:
        self._processor = processor
        self._repository = repository
        self._dispatcher = checked_dispatcher(dispatcher)
        # One change at a time: storing a wish makes others, in this process too, follow it.
        self._changing = threading.RLock()
        self._wish: bool | None = None

    @property
    def topic(self) -> str:
        """The topic that it works on."""
        return self._processor.topic

    @property
    def owner(self) -> str | None:
        """The owner that it polls as."""
        return self._processor.owner

    @property
    def max_attempts(self) -> int | None:
        """How many attempts a task gets, or None if there is no limit."""
        return self._processor.max_attempts

    @property
    def active(self) -> bool:
        """Whether it runs here."""
        return self._processor.active

    @property
    def wanted(self) -> bool:
        """Whether it is to run, as far as was read last."""
        return bool(self._wish)

    @property
    def activation(self) -> bool | None:
        """Whether it is stored that the topic is to be processed, or None if nothing is; read anew each time."""
        with self._dispatcher() as tx:
            self._wish = self._repository.activation(tx, self.topic)
        return self._wish

    @property
    def statistics(self) -> TopicStatistics:
        """What it has done so far."""
        return self._processor.statistics

    def start(self, timeout: timedelta | None = PATIENCE) -> bool:
        """
        Store that the topic is to be processed, and begin; tell whether it runs now and did not before.

        Raises:
            UnknownTopicError: the topic is not initialized; nothing was stored or begun.
            TimeoutError: it took too long and does not run; the wish is stored all the same, unless the error says so.

        """
        deadline = Deadline(timeout)
        with self._change(deadline):
            self._store(active=True)
            return self._processor.start(deadline.left)

    def stop(self, timeout: timedelta | None = PATIENCE) -> bool:
        """
        Store that the topic is not to be processed, finish what is under way here, and end; tell whether it ran.

        Raises:
            UnknownTopicError: the topic is not initialized; nothing was stored or ended.
            TimeoutError: it takes too long; it still ends by itself.

        """
        deadline = Deadline(timeout)
        with self._change(deadline):
            self._store(active=False)
            return self._processor.stop(deadline.left)

    def resume(self) -> bool:
        """Poll at once instead of pausing; tell whether it runs."""
        return self._processor.resume()

    def initialize(self, timeout: timedelta | None = PATIENCE) -> bool:
        """
        Begin if it is stored that the topic is to be processed; tell whether anything is stored.

        Raises:
            UnknownTopicError: the topic is not initialized.

        """
        deadline = Deadline(timeout)
        with self._change(deadline):
            with self._dispatcher() as tx:
                self._require_topic(tx)
                self._wish = self._repository.activation(tx, self.topic)
            if self._wish:
                return self._processor.initialize(deadline.left)
            return self._wish is not None

    def shutdown(self, timeout: timedelta | None = PATIENCE) -> bool:
        """End without storing that."""
        deadline = Deadline(timeout)
        with self._change(deadline):
            return self._processor.shutdown(deadline.left)

    def follow(self) -> None:
        """Begin or end as stored now, without waiting for the end of what is under way."""
        wish = self.activation
        if wish and not self.active:
            self.initialize()
        elif wish is False and self.active:
            try:
                self.shutdown(timedelta())
            except TimeoutError:
                return

    def abandon(self) -> int:
        """Give back every task under way, and return how many."""
        return self._processor.abandon()

    def recover(self) -> None:
        """Give back tasks that could be neither completed nor failed while the database was away."""
        self._processor.recover()

    @contextmanager
    def _change(self, deadline: Deadline) -> Iterator[None]:
        left = seconds(deadline.left)
        if not self._changing.acquire(timeout=-1 if left is None else left):
            message = f"topic {self.topic!r}: another start or stop goes on; nothing was stored or done"
            raise TimeoutError(message)
        try:
            yield
        finally:
            self._changing.release()

    def _store(self, *, active: bool) -> None:
        with self._dispatcher() as tx:
            self._require_topic(tx)
            self._repository.activate(tx, self.topic, active)
        self._wish = active

    def _require_topic(self, tx: T) -> None:
        if self.topic not in self._repository.topics(tx):
            raise UnknownTopicError(self.topic)

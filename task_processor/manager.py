"""Polls a topic and has its tasks worked on."""

import threading
from concurrent.futures import Executor
from datetime import timedelta
from typing import Generic, TypeVar

from task_api import TOPIC_LENGTH, Claim, Condition, InvalidTaskError, Order, TaskSource
from task_api.task import checked_name

from .deadline import Deadline, checked_duration, seconds
from .dispatcher import TaskDispatcher, checked_dispatcher
from .handler import TaskHandlerFactory
from .limiter import TaskLimiter
from .listener import Reporter, TaskListener
from .loop import Polling, PollLoop
from .number import checked_number
from .processor import PATIENCE
from .retry import RetryPolicy
from .statistics import TopicStatistics
from .work import Work

__all__ = ["TaskManager"]

T = TypeVar("T")


class TaskManager(Generic[T]):
    """
    Polls one topic in a loop, hands each batch to a handler, and stores what becomes of it.

    A database that is away is waited for, and no error of a handler or listener ends the loop. Tasks that failed
    with a retry policy come back once they are due and somebody promotes them, as a worker does.

    Args:
        topic: The topic to work on.
        source: Where its tasks are.
        dispatcher: Where transactions come from.
        handler_factory: Makes the handler, once for each start; see `each` and `batch`.
        executor: Where the functions run that a handler is made of, if it has no executor of its own; by default
            on the loop's own thread.
        limiter: How many batches may be under way at once; it may be shared.
        listener: Hears what happens.
        order: Which end of the topic to take from.
        condition: Which tasks to leave alone because of their siblings.
        size: How many tasks make a batch at most.
        pause: How long to wait after a poll that found nothing; `resume` ends it.
        retry: What becomes of failures.
        lease: How long a claim lasts at most, unless it is extended.
        extend: Whether claims with a lease are extended in the background as long as the work on them goes on.
        claim: Whether poll and decision are two transactions with the work between them, or all is one.
        ahead: How many batches may be polled while one is worked on and decided; they wait for their turn, and a
            stop gives them back. Of transactional claims each holds its transaction open meanwhile, for a moment at
            most.

    """

    def __init__(
        self,
        topic: str,
        source: TaskSource[T],
        dispatcher: TaskDispatcher[T],
        handler_factory: TaskHandlerFactory,
        *,
        executor: Executor | None = None,
        limiter: TaskLimiter | None = None,
        listener: TaskListener | None = None,
        order: Order = Order.FIRST_IN_FIRST_OUT,
        condition: Condition = Condition.NONE,
        size: int = 100,
        pause: timedelta = timedelta(seconds=1),
        retry: RetryPolicy | None = None,
        lease: timedelta | None = None,
        claim: Claim = Claim.COMMITTED,
        extend: bool = True,
        ahead: int = 0,
    ) -> None:
        checked_name("topic", topic, TOPIC_LENGTH)
        checked_number("size", size)
        checked_duration("pause", pause, zero=True)
        if lease is not None:
            checked_duration("lease", lease)
        for kind, value in ((Order, order), (Condition, condition), (Claim, claim)):
            if not isinstance(value, kind):
                message = f"{kind.__name__.lower()} must be one of {kind.__name__}, not {value!r}"
                raise InvalidTaskError(message)
        checked_number("ahead", ahead, 0)
        checked_dispatcher(dispatcher)
        self._work = Work(topic, source, dispatcher, Reporter(topic, listener or TaskListener()), retry)
        self._polling = Polling(size, order, condition, lease, claim, pause, extend, ahead)
        self._limiter = limiter or TaskLimiter.unlimited()
        self._handler_factory = handler_factory
        self._executor = executor
        self._starting = threading.Lock()
        self._loop: PollLoop[T] | None = None

    @property
    def topic(self) -> str:
        """The topic that it works on."""
        return self._work.topic

    @property
    def owner(self) -> str | None:
        """The owner that it polls as, or None if its source does not say."""
        return getattr(self._work.source, "owner", None)

    @property
    def max_attempts(self) -> int | None:
        """How many attempts a task gets, or None if there is no retry policy."""
        retry = self._work.retry
        return None if retry is None else retry.max_attempts

    @property
    def active(self) -> bool:
        """Whether it runs: from the moment start returns until its handler is closed."""
        loop = self._loop
        return loop is not None and loop.begun and loop.alive

    @property
    def wanted(self) -> bool:
        """True: it is to run as long as its program does."""
        return True

    @property
    def activation(self) -> bool | None:
        """None: nothing is stored about it."""
        return None

    @property
    def statistics(self) -> TopicStatistics:
        """What it has done so far."""
        batches = self._work.under_way()
        tasks = sum(len(batch.tasks) for batch in batches)
        counters = self._work.reporter.counters
        return counters.snapshot(self.topic, active=self.active, batches=len(batches), tasks=tasks)

    def start(self, timeout: timedelta | None = PATIENCE) -> bool:
        """
        Make the handler and begin to poll; False if it runs already, or if the handler could not be made.

        A run that was asked to stop is waited for first.

        Raises:
            TimeoutError: the handler was not made, or the last run did not end, in time. Nothing will be polled.

        """
        deadline = Deadline(timeout)
        with self._starting:
            if not self._ended(deadline):
                return False
            loop = PollLoop(self._work, self._polling, self._limiter, self._handler_factory, self._executor)
            # Known before it begins, so that a resume or a stop in the meantime finds it.
            self._loop = loop
            if not loop.start(seconds(deadline.left)):
                self._loop = None
                message = f"topic {self.topic!r}: no handler was made within {timeout}; nothing will be polled"
                raise TimeoutError(message)
            return loop.alive

    def stop(self, timeout: timedelta | None = PATIENCE) -> bool:
        """
        Poll no more, finish the batch under way, close the handler, and wait for that; False if it did not run.

        Raises:
            TimeoutError: that takes too long; it still ends by itself.

        """
        loop = self._loop
        if loop is None or not loop.alive:
            return False
        loop.request_stop()
        if not loop.join(seconds(timeout)):
            message = f"topic {self.topic!r}: still at work after {timeout}; it ends when its batch is finished"
            raise TimeoutError(message)
        return True

    def resume(self) -> bool:
        """
        Poll at once instead of pausing, also if the pause is yet to begin; tell whether it runs.

        The wait after a batch that could not begin, or could not be decided, is not ended.
        """
        loop = self._loop
        if loop is None or not loop.alive:
            return False
        loop.resume()
        return True

    def initialize(self, timeout: timedelta | None = PATIENCE) -> bool:
        """Start with the program."""
        self.start(timeout)
        return True

    def shutdown(self, timeout: timedelta | None = PATIENCE) -> bool:
        """Stop with the program."""
        self.stop(timeout)
        return True

    def follow(self) -> None:
        """Do nothing: nothing is stored about it."""

    def abandon(self) -> int:
        """
        Give back every task under way, and return how many: for a stop that took too long.

        Others may poll them at once. Work that still goes on can't decide them any more, so that its effects in the
        database are rolled back. A transactional claim ends as its transaction is rolled back, unless that has an
        outcome already.
        """
        return self._work.abandon()

    def recover(self) -> None:
        """
        Give back tasks that could be neither completed nor failed while the database was away.

        The loop does so before each poll. A manager that was stopped meanwhile needs this call, and it raises as
        long as the database has not come back.
        """
        self._work.recover()

    def _ended(self, deadline: Deadline) -> bool:
        """Tell whether there is no run; one that was asked to stop is waited for."""
        loop = self._loop
        if loop is None or not loop.alive:
            return True
        if not loop.stopping or loop.own:
            return False
        if not loop.join(seconds(deadline.left)):
            message = f"topic {self.topic!r}: the last run has not ended yet; start again once its batch is finished"
            raise TimeoutError(message)
        return True

"""What people run: processors, and all that keeps them going."""

import random
import threading
from collections.abc import Callable, Iterable, Mapping
from contextvars import Context
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType, TracebackType
from typing import Final, Generic, Self, TypeVar

from task_api import InvalidTaskError, ProcessorNotifier, Revivification, TaskError, TaskRepository, UnknownTopicError

from .deadline import Deadline, checked_duration, seconds
from .departure import leave
from .dispatcher import TaskDispatcher, checked_dispatcher
from .health import WorkerHealth
from .heartbeat import Heart
from .listener import LOGGER
from .loop import inside
from .maintenance import Maintenance
from .processor import PATIENCE, TaskProcessor
from .repeater import Job, Repeater
from .retry import backoff_delay
from .roster import roster
from .runner import run_until_signalled

__all__ = ["Worker"]

T = TypeVar("T")

_FIRST_RETRY: Final = timedelta(milliseconds=100)
_LAST_RETRY: Final = timedelta(seconds=10)


class Worker(Generic[T]):
    """
    Runs processors, and does what has to be done beside their work for as long as it takes.

    It registers the repository's owner and beats for it, from a thread and in transactions of its own. It expires
    what dead owners left and brings it back, makes tasks READY that are due, and follows what is stored about
    persistent processors. When it stops, it polls no more, finishes what is under way, gives back what is not
    finished in time, and leaves.

    A database that is away is waited for; no thread ends because of it.

    Args:
        repository: The repository of all processors. Its owner should be unique, as it is by default.
        dispatcher: Where transactions come from.
        processors: What does the work: at most one for each topic.
        heartbeat: How often to beat, and to look for what dead owners left.
        expiry: How long an owner may be silent before its tasks are taken from it; several heartbeats.
        on_expired: How to bring back the expired tasks of the processors' topics; None leaves them EXPIRED.
        notifier: Wakes the processors; started after them, stopped before them.
        grace: How long a stop lets work go on before it is given back.
        beat_dispatcher: Where heartbeats get their transactions from, so that busy work can't keep them waiting.
        initialize_topics: Whether to initialize the topics; otherwise an unknown one is an error of the start.
        promotion: How often to ask for tasks that are due; those known of are not late.
        purge: How long an owner must have been silent to be forgotten, and how often to look; None for never.

    """

    def __init__(
        self,
        repository: TaskRepository[T],
        dispatcher: TaskDispatcher[T],
        processors: Iterable[TaskProcessor],
        *,
        heartbeat: timedelta = timedelta(seconds=10),
        expiry: timedelta = timedelta(minutes=1),
        on_expired: Revivification | None = Revivification.RESET,
        notifier: ProcessorNotifier | None = None,
        grace: timedelta = timedelta(seconds=20),
        beat_dispatcher: TaskDispatcher[T] | None = None,
        initialize_topics: bool = False,
        promotion: timedelta = timedelta(seconds=1),
        purge: timedelta | None = timedelta(days=1),
    ) -> None:
        self._heartbeat = checked_duration("heartbeat", heartbeat)
        self._expiry = checked_duration("expiry", expiry)
        if expiry <= heartbeat:
            message = f"expiry must be longer than heartbeat, or living owners lose their tasks: {expiry}, {heartbeat}"
            raise InvalidTaskError(message)
        if on_expired is not None and not isinstance(on_expired, Revivification):
            message = f"on_expired must be a Revivification, or None to leave tasks EXPIRED, not {on_expired!r}"
            raise InvalidTaskError(message)
        self._grace = checked_duration("grace", grace, zero=True)
        self._promotion = checked_duration("promotion", promotion)
        self._purge = None if purge is None else checked_duration("purge", purge)
        if not isinstance(getattr(repository, "owner", None), str):
            message = f"repository must be a TaskRepository, not {type(repository).__name__}"
            raise InvalidTaskError(message)
        self._repository = repository
        self._dispatcher = checked_dispatcher(dispatcher)
        self._processors = roster(processors, repository.owner)
        self._notifier = notifier
        self._initialize_topics = initialize_topics
        if beat_dispatcher is None:
            beat_dispatcher = dispatcher
        self._heart = Heart(repository, checked_dispatcher(beat_dispatcher, "beat_dispatcher"), heartbeat, self._back)
        self._maintenance = Maintenance(repository, dispatcher, self._processors, expiry, on_expired)
        self._changing = threading.Lock()
        self._stop_wanted = threading.Event()
        self._hurry = threading.Event()
        self._ended = threading.Event()
        self._ended.set()
        self._threads: tuple[Repeater, ...] = ()
        self._started: datetime | None = None

    @property
    def owner(self) -> str:
        """The owner that it beats for."""
        return self._repository.owner

    @property
    def processors(self) -> Mapping[str, TaskProcessor]:
        """What does the work, by topic."""
        return MappingProxyType(self._processors)

    @property
    def active(self) -> bool:
        """Whether it was started and not stopped."""
        return not self._ended.is_set()

    @property
    def healthy(self) -> bool:
        """Whether it runs, has beaten lately, and every processor that is to run does."""
        return self.health.healthy

    @property
    def health(self) -> WorkerHealth:
        """How it is doing; asks no database, and may be asked often."""
        maintenance, threads, beat = self._maintenance, self._threads, self._heart.last
        topics = {
            topic: replace(
                processor.statistics, revived=maintenance.revived(topic), promoted=maintenance.promoted(topic)
            )
            for topic, processor in self._processors.items()
        }
        alive = self.active and bool(threads) and all(thread.alive for thread in threads)
        idle = [processor for processor in self._processors.values() if processor.wanted and not processor.active]
        return WorkerHealth(
            owner=self.owner,
            alive=alive,
            healthy=alive and not idle and beat is not None and beat.age < self._expiry,
            started=self._started,
            last_beat=None if beat is None else beat.moment,
            beat_age=None if beat is None else beat.age,
            errors={name: repr(error) for thread in threads for name, error in thread.errors.items()},
            expired=maintenance.expired,
            topics=topics,
            notifier_connected=None if self._notifier is None else self._notifier.connected,
        )

    def start(self, timeout: timedelta | None = PATIENCE) -> bool:
        """
        Register, beat, and start all processors; False if it runs already, or was stopped meanwhile.

        Raises:
            TimeoutError: the database was away, or a processor did not start, for so long; nothing runs.
            UnknownTopicError: a topic is not initialized; nothing runs.
            TaskError: the schema is missing, or a processor could not make its handler; nothing runs.

        """
        self._stop_wanted.clear()
        return self._start(Deadline(timeout))

    def stop(self, timeout: timedelta | None = None) -> bool:
        """
        Poll no more, finish what is under way, give back the rest, and leave; False if it did not run.

        Work that stops its own worker does not wait for that: it is under way itself.

        Args:
            timeout: How long to let work go on, instead of the grace.

        Raises:
            TimeoutError: some work went on although its tasks were given back; its thread ends with it.

        """
        self._stop_wanted.set()
        if inside(self.owner, self._processors):
            return self._stop_beside(timeout)
        with self._changing:
            if not self.active:
                return False
            busy = self._leave(self._grace if timeout is None else timeout)
        if busy:
            message = f"given back, yet still at work: {', '.join(map(repr, busy))}"
            raise TimeoutError(message)
        return True

    def run(self) -> None:
        """
        Start, and block until a signal or another thread stops it; a database that is away is waited for.

        In the main thread SIGTERM and SIGINT stop it. A second one ends the grace: what is under way is given back
        at once.

        Raises:
            TaskError: it could not start, as in `start`.

        """
        # Here and not on another thread, where it might come after a stop.
        self._stop_wanted.clear()
        run_until_signalled(lambda: self._start(Deadline(None)), self.stop, self._hurry.set, self._ended.wait)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.stop()
        except TimeoutError:
            if error is None:
                raise
            # What the block raised says more.
            LOGGER.exception("worker %s", self.owner)

    def _start(self, deadline: Deadline) -> bool:
        with self._changing:
            if self.active or not self._insist(self._register, deadline):
                return False
            self._hurry.clear()
            self._ended.clear()
            begun = False
            try:
                begun = self._begin(deadline)
            finally:
                if not begun:
                    self._leave(timedelta())
            if begun:
                self._started = datetime.now(UTC)
                LOGGER.info("worker %s runs: %s", self.owner, ", ".join(self._processors))
            return begun

    def _stop_beside(self, timeout: timedelta | None) -> bool:
        """Stop on a thread that can wait for the caller."""
        running = self.active
        if running:
            # In a context of its own: it does not belong to the work.
            call = partial(Context().run, self._stop_quietly, timeout)
            threading.Thread(target=call, name="task-worker-stop", daemon=True).start()
        return running

    def _stop_quietly(self, timeout: timedelta | None) -> None:
        try:
            self.stop(timeout)
        except TimeoutError as error:
            LOGGER.warning("worker %s: %s", self.owner, error)

    def _insist(self, call: Callable[[], object], deadline: Deadline) -> bool:
        """Call until the database answers, and tell whether it did before a stop was wanted."""
        failures = 0
        while not self._stop_wanted.is_set():
            try:
                call()
            except (TaskError, TimeoutError):
                raise
            except Exception as error:
                failures += 1
                LOGGER.warning("worker %s waits for the database: %r", self.owner, error)
                if deadline.over:
                    message = f"the database was away for too long: {error}"
                    raise TimeoutError(message) from error
                wait = backoff_delay(_FIRST_RETRY, failures, _LAST_RETRY)
                self._stop_wanted.wait(seconds(wait if deadline.left is None else min(wait, deadline.left)))
            else:
                return True
        return False

    def _register(self) -> None:
        new = self._heart.register()
        with self._dispatcher() as tx:
            for topic in sorted(self._processors.keys() - self._repository.topics(tx)):
                if not self._initialize_topics:
                    error = UnknownTopicError(topic)
                    error.add_note("or let the worker do it: Worker(..., initialize_topics=True)")
                    raise error
                self._repository.initialize(tx, topic)
        if not new:
            self._maintenance.adopt()

    def _begin(self, deadline: Deadline) -> bool:
        """Let everything begin, and tell whether it did before a stop was wanted."""
        heartbeat, maintenance = self._heartbeat, self._maintenance
        jobs = [
            Job("giving back stray tasks", heartbeat, maintenance.recover),
            Job("expiring tasks", heartbeat, self._expire),
            Job("reviving tasks", heartbeat, lambda: maintenance.revive(self._stop_wanted.is_set)),
            Job("promoting tasks", self._promotion, maintenance.promote),
        ]
        if (purge := self._purge) is not None:
            # At some time, so that it happens although workers may be restarted every day.
            first = purge * random.random()  # noqa: S311 - no secret
            jobs.append(Job("forgetting owners", purge, lambda: maintenance.purge(purge), first=first))
        self._threads = (
            Repeater(
                "task-heartbeat", [Job("the heartbeat", heartbeat, self._heart.beat, first=heartbeat)], self._back
            ),
            Repeater("task-maintenance", jobs),
            # Alone, because it makes handlers.
            Repeater(
                "task-activation",
                [Job("following activations", heartbeat, lambda: maintenance.follow(self._stop_wanted.is_set))],
            ),
        )
        heart, *others = self._threads
        heart.start()
        for processor in self._processors.values():
            if not self._insist(lambda processor=processor: processor.initialize(deadline.left), deadline):  # type: ignore[misc]
                return False
            if processor.wanted and not processor.active:
                reason = processor.statistics.last_error
                message = f"the processor of topic {processor.topic!r} did not start: {reason}"
                raise TaskError(message)
        for thread in others:
            thread.start()
        if self._notifier is not None:
            self._notifier.start(self._processors.values(), deadline.left)
        return True

    def _leave(self, grace: timedelta) -> list[str]:
        try:
            return leave(list(self._processors.values()), self._notifier, self._threads, grace, self._hurry)
        finally:
            self._ended.set()
            LOGGER.info("worker %s has ended", self.owner)

    def _back(self) -> None:
        """The database is back: catch up at once."""
        for thread in self._threads[1:]:
            thread.hurry()
        for processor in self._processors.values():
            processor.resume()

    def _expire(self) -> timedelta | None:
        if wait := self._heart.unsteady:
            return wait
        self._maintenance.expire()
        return None

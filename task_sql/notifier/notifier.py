"""Notifiers: a thread that listens, and comes back after every loss."""

import threading
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from datetime import timedelta
from time import monotonic
from typing import Final

from task_api import NOTIFIER_PATIENCE, InvalidTaskError, Notifiable, TaskError

from .backoff import backoff
from .feed import EndOfFeed, Feed, Source
from .reporting import LOGGER, OnError, Report, reporting
from .switchboard import Switchboard

__all__ = ["Notifier", "checked_span"]

_STABLE: Final = 5.0
"""How many seconds a connection has to last for its loss to be the first one."""
_OPENING: Final = 30.0
"""How many seconds the database has to answer when a connection is made."""


class Notifier:
    """A `ProcessorNotifier` on a source of news."""

    def __init__(self, source: Source, on_error: OnError | None = None) -> None:
        self._source = source
        self._report = reporting(on_error)
        self._lock = threading.Lock()
        self._run: _Run | None = None

    @property
    def active(self) -> bool:
        """Whether it was started and not stopped, also while it has no connection."""
        return self._run is not None

    @property
    def connected(self) -> bool:
        """Whether it hears of tasks and activations at present."""
        run = self._run
        return run is not None and run.connected

    def start(self, processors: Iterable[Notifiable], timeout: timedelta | None = NOTIFIER_PATIENCE) -> bool:
        """
        Begin to tell the processors; False if it is active already.

        A database that is away is no error: that is reported, and it is waited for.

        Raises:
            TaskError: the database will never tell, and why.
            TimeoutError: it neither answered nor refused in time; the notifier is not active.

        """
        seconds = _seconds(timeout)
        # Critical section: of several that start it, one does.
        with self._lock:
            if self._run is not None:
                return False
            run = self._run = _Run(self._source, Switchboard(processors, self._report), self._report)
        try:
            run.start(seconds)
        except BaseException:
            self._forget(run)
            run.stop()
            raise
        return True

    def stop(self, timeout: timedelta | None = NOTIFIER_PATIENCE) -> bool:
        """
        Tell nobody any more, and wait for what is under way; False if it is not active.

        Raises:
            TimeoutError: a processor that is being started or stopped takes too long; no other follows it.

        """
        seconds = _seconds(timeout)
        run = self._run
        if run is None or not self._forget(run):
            return False
        run.stop()
        if not run.join(seconds):
            message = f"a processor is still being told to start, stop or resume after {timeout}; no other follows it"
            raise TimeoutError(message)
        return True

    def _forget(self, run: "_Run") -> bool:
        """Be inactive; tell whether it was this call that brought that about."""
        with self._lock:
            if self._run is not run:
                return False
            self._run = None
            return True


class _Run:
    """From one start to its stop."""

    def __init__(self, source: Source, board: Switchboard, report: Report) -> None:
        self.connected = False
        self._source = source
        self._board = board
        self._report = report
        self._stopping = threading.Event()
        self._begun = threading.Event()
        self._ended = threading.Event()
        # Set by stop, and by a connection that was made or refused.
        self._wake = threading.Event()
        self._feed: Feed | None = None
        self._refusal: TaskError | None = None
        self._failures = 0
        self._outage = False
        self._thread = threading.Thread(target=self._main, name="task-notifier", daemon=True)

    def start(self, timeout: float | None) -> None:
        """Begin, and wait until the first connection was made or failed."""
        try:
            self._thread.start()
        except BaseException:
            self._ended.set()
            raise
        if not self._begun.wait(timeout):
            message = f"the database neither answered nor refused within {timeout} s; the notifier is not active"
            raise TimeoutError(message)
        if self._refusal is not None:
            raise self._refusal

    def stop(self) -> None:
        """Ask it to end; nobody is told any more."""
        self._board.close()
        self._stopping.set()
        self._wake.set()
        if (feed := self._feed) is not None:
            feed.wake()

    def join(self, timeout: float | None) -> bool:
        """Wait for the end; tell whether it came in time. Its own threads do not wait for themselves."""
        deadline = None if timeout is None else monotonic() + timeout
        if threading.current_thread() is not self._thread:
            # First, as a thread that is yet to be started, or could not be, can't be joined.
            if not self._ended.wait(timeout):
                return False
            if self._thread.ident is not None:
                self._thread.join()
        return self._board.join(None if deadline is None else max(0.0, deadline - monotonic()))

    def _main(self) -> None:
        try:
            while not self._stopping.is_set():
                self._session()
        finally:
            self._board.close()
            self._begun.set()
            self._ended.set()

    def _session(self) -> None:
        """Listen for the life of one connection."""
        try:
            feed = self._open()
            if feed is not None:
                self._attend(feed)
        except EndOfFeed:
            pass
        except BaseException as error:  # noqa: BLE001 - reported; the database may come back
            self._failed(error)

    def _open(self) -> Feed | None:
        """
        Open a feed; None when the notifier is to end.

        What may not answer is asked on a thread of its own, and left to it when it takes too long.
        """
        if not self._source.remote:
            return self._source.open(self._board.topics)
        self._wake.clear()
        if self._stopping.is_set():
            return None
        opening: Future[Feed] = Future()
        threading.Thread(target=self._fulfil, args=(opening,), name="task-notifier-opening", daemon=True).start()
        opening.add_done_callback(lambda _: self._wake.set())
        answered = self._wake.wait(_OPENING)
        if not answered or self._stopping.is_set():
            opening.add_done_callback(_discard)
            if answered:
                return None
            message = f"the database did not answer within {_OPENING:g} s"
            raise TimeoutError(message)
        return opening.result()

    def _fulfil(self, opening: "Future[Feed]") -> None:
        try:
            opening.set_result(self._source.open(self._board.topics))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            opening.set_exception(error)

    def _attend(self, feed: Feed) -> None:
        since = monotonic()
        self._feed = feed
        try:
            self._recovered()
            self._board.everything()
            self._begun.set()
            while not self._stopping.is_set():
                feed.attend(self._board)
        finally:
            self.connected = False
            self._feed = None
            if monotonic() - since >= _STABLE:
                self._failures = 0
            _close(feed)

    def _recovered(self) -> None:
        self.connected = True
        if self._outage:
            self._outage = False
            LOGGER.info("the notifier is connected again")

    def _failed(self, error: BaseException) -> None:
        if self._stopping.is_set():
            return
        if isinstance(error, TaskError) and not self._begun.is_set():
            self._refusal = error
            self._stopping.set()
            return
        if not self._outage:
            self._outage = True
            self._report(error)
        self._begun.set()
        self._failures += 1
        self._stopping.wait(backoff(self._failures))


def checked_span(name: str, value: object) -> timedelta:
    """Return a time that is longer than none."""
    if not isinstance(value, timedelta) or value <= timedelta():
        message = f"{name} must be a timedelta of more than 0, not {value!r}"
        raise InvalidTaskError(message)
    return value


def _seconds(timeout: object) -> float | None:
    if timeout is None:
        return None
    if not isinstance(timeout, timedelta) or timeout < timedelta():
        message = f"timeout must be None or a timedelta that is not negative, not {timeout!r}"
        raise InvalidTaskError(message)
    return timeout.total_seconds()


def _close(feed: Feed) -> None:
    with suppress(Exception):  # it may be lost already
        feed.close()


def _discard(opening: "Future[Feed]") -> None:
    """Close what nobody waits for any more."""
    if opening.exception() is None:
        _close(opening.result())

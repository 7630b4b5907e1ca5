"""What goes on beside the work in a detached process: it beats, hears signals, and ends what does not end by itself."""

import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from datetime import timedelta
from types import FrameType, TracebackType
from typing import Final, Generic, Self, TypeVar

from ..listener import LOGGER
from ..repeater import Job, Repeater
from .claim import DetachedClaim
from .errand import LONGEST
from .exit import DetachedExit

__all__ = ["Guard"]

T = TypeVar("T")

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_LOST: Final = 0
_FINISHED: Final = 255
_NOWHERE: Final = -1
_PATIENCE: Final = timedelta(seconds=3)


class Guard(Generic[T]):
    """
    Runs beside the work, which has the main thread to itself.

    Signals are heard on a thread, so that work inside of some library can't hold them up.

    Args:
        claim: The task that is worked on.
        heartbeat: How often to beat.
        expiry: How long it may be silent before the task counts as lost.
        grace: How long work may go on once it is to stop.

    """

    def __init__(self, claim: DetachedClaim[T], *, heartbeat: timedelta, expiry: timedelta, grace: timedelta) -> None:
        self._claim = claim
        self._expiry = expiry.total_seconds()
        self._grace = grace.total_seconds()
        self._beaten = time.monotonic()
        pause = max(heartbeat, claim.pause)
        job = Job("the heartbeat", heartbeat, self._beat, first=heartbeat)
        self._heart = Repeater("task-detached-heartbeat", [job])
        # On a thread of its own, as it waits for transactions of the work that have the task locked.
        job = Job("looking after the task", pause, self._look, first=pause)
        self._eye = Repeater("task-detached-look", [job])
        self._watcher = threading.Thread(target=self._watch, name="task-detached-watch", daemon=True)
        self._inbox, self._outbox = os.pipe()
        self._masks = threading.local()
        self._working = True
        self.code: DetachedExit | None = None
        """How the process ends if the work ends early; None as long as it need not."""

    def __enter__(self) -> Self:
        os.set_blocking(self._outbox, False)
        os.register_at_fork(before=self._fork, after_in_parent=self._unblock, after_in_child=self._forked)
        for number in _SIGNALS:
            signal.signal(number, self._signalled)
        signal.set_wakeup_fd(self._outbox, warn_on_full_buffer=False)
        self._heart.start()
        self._eye.start()
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._tell(_FINISHED)
        self._watcher.join()
        self._eye.stop(_PATIENCE)
        self._heart.stop(_PATIENCE)
        # Whatever still keeps the process from ending can be ended.
        self._unhear()

    def worked(self) -> None:
        """Say that the work is done and only its decision is to be stored: that may wait for the database."""
        self._working = False

    def _beat(self) -> None:
        self._claim.beat()
        self._beaten = time.monotonic()

    def _look(self) -> None:
        if not self._claim.look():
            self._tell(_LOST)

    def _signalled(self, number: int, _: FrameType | None) -> None:
        """Tell of a signal that went elsewhere: event loops that hear signals have them written to a file of theirs."""
        replaced = signal.set_wakeup_fd(self._outbox, warn_on_full_buffer=False)
        if replaced != self._outbox:
            if replaced != _NOWHERE:
                signal.set_wakeup_fd(replaced)
            self._tell(number)

    def _watch(self) -> None:
        """Wait for a reason to stop, let the work end, and then end it."""
        end: float | None = None
        while end is None or time.monotonic() < end:
            heard = self._hear(end)
            if _FINISHED in heard:
                return
            signalled = any(number in _SIGNALS for number in heard)
            if end is not None:
                # Asked again: no more grace.
                end = time.monotonic() if signalled else end
            elif signalled:
                end = self._cancel(DetachedExit.STOPPED, "asked to stop")
            elif _LOST in heard:
                end = self._cancel(DetachedExit.UNDECIDED, "the task is held by others")
            elif self._silent() <= 0:
                end = self._cancel(DetachedExit.UNDECIDED, "the database was away for too long")
        self._end()

    def _hear(self, end: float | None) -> bytes:
        left = self._silent() if end is None else end - time.monotonic()
        poll = select.poll()
        poll.register(self._inbox, select.POLLIN)
        return os.read(self._inbox, 1024) if poll.poll(min(max(left, 0), LONGEST) * 1000) else b""

    def _silent(self) -> float:
        """How long it may still be silent."""
        return self._beaten + self._expiry - time.monotonic() if self._working else self._expiry

    def _cancel(self, code: DetachedExit, reason: str) -> float:
        LOGGER.warning("%s: %s; the work may go on for %s seconds", self._claim.task, reason, self._grace)
        self.code = code
        self._claim.stopping.set()
        return time.monotonic() + self._grace

    def _end(self) -> None:
        """End the process in the midst of the work."""
        LOGGER.warning("%s: the work did not end by itself", self._claim.task)
        if self.code is DetachedExit.STOPPED:
            # On a thread, as the database may be away.
            giving = threading.Thread(target=self.give_back, daemon=True)
            giving.start()
            giving.join(_PATIENCE.total_seconds())
        for stream in (sys.stdout, sys.stderr):
            # Whatever the work has done to it.
            with suppress(Exception):
                stream.flush()
        os._exit(self.code or DetachedExit.UNDECIDED)

    def give_back(self) -> None:
        """Give the task back; if that fails, it expires."""
        try:
            self._claim.release()
        except Exception as error:  # noqa: BLE001 - logged
            LOGGER.warning("%s could not be given back: %r", self._claim.task, error)
        else:
            LOGGER.info("%s is given back", self._claim.task)

    def _tell(self, number: int) -> None:
        os.write(self._outbox, bytes([number]))

    def _fork(self) -> None:
        """Hold signals back until a process of the work hears them as its own."""
        self._masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)

    def _forked(self) -> None:
        """Let signals do to a process of the work what they always do."""
        self._unhear()
        self._unblock()

    def _unhear(self) -> None:
        signal.set_wakeup_fd(_NOWHERE)
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)

    def _unblock(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._masks.before)

"""Jobs that are done again and again on a thread of their own, whatever happens."""

import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from .deadline import seconds
from .listener import LOGGER
from .retry import backoff_delay

__all__ = ["Job", "Repeater"]

_FIRST_RETRY: Final = timedelta(milliseconds=50)


class Job:
    """
    Something to be done again and again.

    Args:
        name: What errors are reported under.
        interval: How long to wait after each time; a failure is tried again sooner, ever later up to this.
        function: Does it; it may return a shorter wait.
        first: How long to wait for the first time. With one, it is never hurried.

    """

    def __init__(
        self,
        name: str,
        interval: timedelta,
        function: Callable[[], timedelta | None],
        *,
        first: timedelta | None = None,
    ) -> None:
        self.name = name
        self.hurried = first is None
        self._interval = interval
        self._function = function
        self._failures = 0
        self.error: BaseException | None = None
        self.next = time.monotonic() + (seconds(first) or 0)

    def run(self) -> bool:
        """Do it once, and tell whether it succeeded after it had failed."""
        try:
            wait = self._function()
        except BaseException as error:  # noqa: BLE001 - tried again for ever
            self._failures += 1
            if self._failures == 1:
                # Once: it may go on for hours.
                LOGGER.warning("%s failed and is tried again: %r", self.name, error, exc_info=error)
            self.error = error
            self._due_in(backoff_delay(min(_FIRST_RETRY, self._interval), self._failures, self._interval))
            return False
        self._due_in(self._interval if wait is None else min(max(wait, timedelta()), self._interval))
        failures, self._failures, self.error = self._failures, 0, None
        if failures:
            LOGGER.warning("%s works again after %s failures", self.name, failures)
        return bool(failures)

    def _due_in(self, wait: timedelta) -> None:
        self.next = time.monotonic() + (seconds(wait) or 0)


class Repeater:
    """Does jobs in turn, each when its time has come."""

    def __init__(self, name: str, jobs: Sequence[Job], on_return: Callable[[], object] = lambda: None) -> None:
        self._jobs = jobs
        self._on_return = on_return
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)

    @property
    def alive(self) -> bool:
        """Whether it goes on."""
        return self._thread.is_alive()

    @property
    def errors(self) -> dict[str, BaseException]:
        """The jobs that fail at present, and why."""
        return {job.name: error for job in self._jobs if (error := job.error) is not None}

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def hurry(self) -> None:
        """Do all jobs at once, instead of waiting."""
        self._wake.set()

    def stop(self, timeout: timedelta | None = None) -> bool:
        """Begin no more jobs, wait for the one under way, and tell whether it has ended."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(seconds(timeout))
        return not self._thread.is_alive()

    def _main(self) -> None:
        while not self._stopping.is_set():
            # Latched: cleared before the jobs, so that no request is lost.
            hurried = self._wake.is_set()
            self._wake.clear()
            for job in self._jobs:
                due = job.next <= time.monotonic() or (hurried and job.hurried)
                if due and not self._stopping.is_set() and job.run():
                    self._return()
            self._wake.wait(max(min(job.next for job in self._jobs) - time.monotonic(), 0))

    def _return(self) -> None:
        try:
            self._on_return()
        except BaseException:  # noqa: BLE001 - logged; the jobs go on
            LOGGER.exception("%s", self._thread.name)

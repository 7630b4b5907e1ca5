"""Wake-ups by the clock, for want of anything better."""

import threading
from collections.abc import Collection
from datetime import timedelta
from typing import ClassVar

from .feed import Feed
from .notifier import Notifier, checked_span
from .reporting import OnError
from .switchboard import Switchboard

__all__ = ["PollingNotifier"]


class PollingNotifier(Notifier):
    """
    Resumes all processors and reads what is stored about each, again and again.

    It needs nothing from a database but what the processors themselves read.

    Args:
        interval: How long to wait between two rounds.
        on_error: Hears of errors of the processors; by default they are logged.

    """

    def __init__(self, interval: timedelta, *, on_error: OnError | None = None) -> None:
        super().__init__(_Clock(checked_span("interval", interval)), on_error)


class _Clock:
    """A source that needs no connection."""

    remote: ClassVar[bool] = False

    def __init__(self, interval: timedelta) -> None:
        self._interval = interval

    def open(self, topics: Collection[str]) -> Feed:  # noqa: ARG002 - all of them, always
        return _Ticks(self._interval)


class _Ticks:
    def __init__(self, interval: timedelta) -> None:
        self._interval = interval.total_seconds()
        self._woken = threading.Event()

    def attend(self, board: Switchboard) -> None:
        if not self._woken.wait(self._interval):
            board.everything()

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        pass

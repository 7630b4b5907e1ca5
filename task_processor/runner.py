"""Running something until a signal, or somebody, ends it."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

from .listener import LOGGER
from .signals import handled_signals

__all__ = ["run_until_signalled"]

# Some systems deliver no signal while a thread waits.
_LOOK: Final = 1.0


def run_until_signalled(
    start: Callable[[], object],
    stop: Callable[[], object],
    hurry: Callable[[], object],
    wait: Callable[[], object],
) -> None:
    """
    Start, wait for a signal or for the end, and stop; a further signal asks to hurry.

    All of that happens on other threads, so that this one can hear signals at any time.
    """
    # The one kind of queue that may be put into at any moment, which is when signals come.
    inbox: SimpleQueue[int | _Step] = SimpleQueue()
    with handled_signals(inbox.put):
        starting = _Step("task-worker-start", start, inbox)
        waiting: _Step | None = None
        stopping: _Step | None = None
        while True:
            item = _next(inbox)
            if item is starting:
                starting.check()
                waiting = _Step("task-worker-wait", wait, inbox)
            elif item is waiting and stopping is None:
                return
            elif item is stopping:
                stopping.check(TimeoutError)
                return
            elif isinstance(item, int) and stopping is None:
                LOGGER.info("signal %s: stopping", item)
                stopping = _Step("task-worker-stop", stop, inbox)
            elif isinstance(item, int):
                LOGGER.info("signal %s: giving back what is under way", item)
                hurry()


def _next(inbox: "SimpleQueue[int | _Step]") -> "int | _Step":
    while True:
        try:
            return inbox.get(timeout=_LOOK)
        except Empty:
            continue


class _Step:
    """A call on a thread of its own, which tells its end."""

    def __init__(self, name: str, call: Callable[[], object], inbox: "SimpleQueue[int | _Step]") -> None:
        self._call = call
        self._inbox = inbox
        self._error: BaseException | None = None
        threading.Thread(target=self._main, name=name, daemon=True).start()

    def check(self, *logged: type[BaseException]) -> None:
        """Raise what the call raised, unless that is only to be logged."""
        if self._error is not None:
            if not isinstance(self._error, logged):
                raise self._error
            LOGGER.warning("%s", self._error)

    def _main(self) -> None:
        try:
            self._call()
        except BaseException as error:  # noqa: BLE001 - raised where it is asked for
            self._error = error
        self._inbox.put(self)

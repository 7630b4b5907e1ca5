"""One worker's work as the harness follows it: when it begins, how far it is, when to stop."""

import contextlib
import resource
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, TypeAlias

__all__ = ["Work", "moment_of", "payload"]

Stop: TypeAlias = Callable[[], object]
"""Ends what would not look at `Work.stopping`."""

_TICK: Final = 0.01
_STAMP: Final = 20
_LENGTH: Final = 100


def payload() -> str:
    """A task: a hundred characters that begin with the moment at which it was made."""
    return f"{time.monotonic():020.6f}".ljust(_LENGTH, "x")


def moment_of(text: str) -> float:
    """The moment at which a task was made."""
    return float(text[:_STAMP])


class Work:
    """
    What an adapter tells while it works.

    It connects and prepares, calls `ready`, and works until `stopping` is set or the functions in `on_stop` are
    called. It calls `handle` for each task where a handler would begin, and, if it can tell, `mark` when a batch was
    finished for good. The clock runs from the first task, or from `begin` where the adapter has the loop in its own
    hands and can tell when it first asks for tasks.

    Args:
        harness: Where to report.
        latency: Whether to note how old each task is.
        memory: Note the process's memory each time that so many tasks were handled; 0 for never.

    """

    def __init__(self, harness: Connection, *, latency: bool = False, memory: int = 0) -> None:
        self.latency = latency
        self.stopping = threading.Event()
        self.on_stop: list[Stop] = []
        self._harness = harness
        self._memory = memory
        self._number = 0
        self._processor = 0.0
        self._first: float | None = None
        self._last: float | None = None
        self._ages: list[float] = []
        self._sizes: list[int] = []
        self._reporter = threading.Thread(target=self._report, name="benchmark-report", daemon=True)

    def ready(self) -> None:
        """Say that all is prepared, and wait for the signal that all workers get at once."""
        self._harness.send(("ready", None))
        self._harness.recv()
        self._processor = time.process_time()
        self._reporter.start()

    def begin(self) -> None:
        """Start the clock: the first tasks are asked for now."""
        self._first = time.monotonic()

    def handle(self, text: str) -> None:
        """Work on a task."""
        now = time.monotonic()
        if self._first is None:
            self._first = now
        self._last = now
        self._number += 1
        if self.latency:
            self._ages.append(now - moment_of(text))

    def mark(self) -> None:
        """Say that what was handled is finished for good."""
        self._last = time.monotonic()

    def result(self) -> dict[str, Any]:
        """What became of it, once it has ended."""
        self.stopping.set()
        self._reporter.join()
        return {
            "number": self._number,
            "first": self._first,
            "last": self._last,
            "processor": time.process_time() - self._processor,
            "ages": self._ages,
            "sizes": self._sizes,
        }

    def _report(self) -> None:
        with contextlib.suppress(EOFError, OSError):  # nobody is there any more
            self._tell()
        self.stopping.set()
        for stop in self.on_stop:
            stop()

    def _tell(self) -> None:
        """Tell how far it is, until the harness asks to stop or the work has ended."""
        told = 0
        while not self.stopping.wait(_TICK):
            if self._number > told:
                told = self._number
                self._harness.send(("progress", told))
            if self._memory and told >= self._memory * (len(self._sizes) + 1):
                self._sizes.append(resident())
            if self._harness.poll():
                self._harness.recv()
                return


def resident() -> int:
    """The bytes of memory that this process has at present, or had at most where that can't be told."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

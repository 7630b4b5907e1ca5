"""What most tests of notifiers need: processors that remember, and notifiers that are stopped in the end."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from task_api import Notifiable, ProcessorNotifier

PATIENCE = 30.0
"""How many seconds a test waits for what should happen at once."""


class Puppet:
    """A processor that does nothing and remembers what it was told."""

    def __init__(self, topic: str = "topic", *, active: bool = False) -> None:
        self.topic = topic
        self.active = active
        self.stored: bool | None = None
        self.calls: list[str] = []
        self.trouble: dict[str, list[BaseException]] = {}
        """Errors to raise, by call, one after the other."""
        self.before: dict[str, Callable[[], object]] = {}
        """What to do first, by call."""
        self._changed = threading.Condition()

    @property
    def activation(self) -> bool | None:
        """What a test has stored."""
        self._note("activation")
        return self.stored

    def resume(self) -> bool:
        """Remember."""
        self._note("resume")
        return self.active

    def initialize(self) -> bool:
        """Be active from now on."""
        self._note("initialize")
        self.active = True
        return True

    def shutdown(self) -> bool:
        """Be inactive from now on."""
        self._note("shutdown")
        self.active = False
        return True

    def count(self, call: str) -> int:
        """How often it was called so."""
        with self._changed:
            return self.calls.count(call)

    def wait(self, call: str, number: int = 1) -> None:
        """Wait until it was called so that many times."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.calls.count(call) >= number, PATIENCE), (call, self.calls)

    def _note(self, call: str) -> None:
        self.before.get(call, lambda: None)()
        with self._changed:
            self.calls.append(call)
            self._changed.notify_all()
            trouble = self.trouble.get(call)
        if trouble:
            raise trouble.pop(0)


class Errors:
    """Remembers errors that were reported."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.seen: list[BaseException] = []

    def __call__(self, error: BaseException) -> None:
        """Remember."""
        with self._changed:
            self.seen.append(error)
            self._changed.notify_all()

    def wait(self, number: int = 1) -> list[BaseException]:
        """Wait for that many errors."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.seen) >= number, PATIENCE), self.seen
            return list(self.seen)


def until(condition: Callable[[], object]) -> None:
    """Ask until it is so."""
    deadline = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        pause.wait(0.005)


def threads() -> list[str]:
    """The names of the threads that notifiers run on."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("task-notifier")]


@contextmanager
def started(notifier: ProcessorNotifier, *processors: Notifiable) -> Iterator[None]:
    """A notifier that tells these processors, stopped in the end."""
    assert notifier.start(processors) is True
    try:
        yield
    finally:
        notifier.stop()

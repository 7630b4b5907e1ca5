"""The task that the work of a state machine sees."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields

from task_api import Task

__all__ = ["HeldTask", "Hold"]


class Hold:
    """Whether a task is still held by whoever works on it. Sent to another process, it stays as it was."""

    def __init__(self, *, lost: bool = False) -> None:
        self._lock = threading.Lock()
        self._lost = lost
        self._cancel: Callable[[], object] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self._lost,)

    @property
    def lost(self) -> bool:
        """Whether somebody else has the task now."""
        return self._lost

    def lose(self) -> None:
        """Say that somebody else has it, and cancel the work that goes on."""
        # Critical section: either the work is known here, or it sees that the task is lost before it begins.
        with self._lock:
            self._lost = True
            cancel = self._cancel
        if cancel is not None:
            cancel()

    @contextmanager
    def cancelling(self, cancel: Callable[[], object]) -> Iterator[None]:
        """Have something called when the task is lost inside of the block, or was lost before."""
        with self._lock:
            self._cancel = cancel
            lost = self._lost
        if lost:
            cancel()
        try:
            yield
        finally:
            with self._lock:
                self._cancel = None


def _restored(lost: bool) -> Hold:  # noqa: FBT001 - as it was
    return Hold(lost=lost)


@dataclass(frozen=True, slots=True, eq=False)
class HeldTask(Task):
    """A task as the work of a state machine sees it, which can ask whether it still goes on for something."""

    hold: Hold = field(default_factory=Hold, repr=False)
    """The claim."""

    @classmethod
    def of(cls, task: Task) -> "HeldTask":
        """Make one of a task that was polled."""
        return cls(**{each.name: getattr(task, each.name) for each in fields(Task)})

    @property
    def held(self) -> bool:
        """False once the task was taken over: nothing that this work gives will be stored, so that it may stop."""
        return not self.hold.lost

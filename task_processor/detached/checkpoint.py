"""What work in a detached process can say and ask."""

from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Generic, TypeVar

from task_api import TaskDecision

from .claim import DetachedClaim, StopRequestedError

__all__ = ["Checkpoint"]

T = TypeVar("T")


class Checkpoint(Generic[T]):
    """
    Given to a function ``fn(task, checkpoint)`` that runs in a detached process.

    ``checkpoint(text)`` makes the text the task's input, so that whoever works on it next goes on from there.
    """

    def __init__(self, claim: DetachedClaim[T]) -> None:
        self._claim = claim

    def __call__(self, text: str | None, tx: T | None = None) -> None:
        """
        Store how far the work has come.

        Args:
            text: All that the work needs to go on from here; it replaces the task's input.
            tx: A transaction to store it in, along with what was done, see `begin`; by default one of its own.

        Raises:
            StopRequestedError: it is stored, and the process is to stop; let it through. Not with a transaction of
                yours: ask `stopping` after that.
            LostTaskError: others hold the task; nothing was stored.

        """
        if tx is not None:
            self._claim.checkpoint(tx, text)
            return
        self._claim.insist(lambda own: self._claim.checkpoint(own, text))
        if self.stopping():
            raise StopRequestedError

    def begin(self) -> AbstractContextManager[T]:
        """Begin a transaction, for work whose effects commit together with a checkpoint or the decision."""
        return self._claim.dispatcher()

    def decide(self, tx: T, decision: TaskDecision = TaskDecision.SUCCESS) -> None:
        """Decide the task in a transaction of the work's own; then what the function returns decides nothing."""
        self._claim.complete(tx, TaskDecision.of(decision))

    def stopping(self, timeout: timedelta = timedelta()) -> bool:
        """
        Tell whether the work is to end early, after waiting for so long at most.

        That is so when the process was asked to stop, when others hold its task, and when the database was away for
        too long to know. Work that ends because of that raises a StopRequestedError.
        """
        return self._claim.stopping.wait(timeout.total_seconds())

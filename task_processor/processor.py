"""What runs the work on one topic."""

from datetime import timedelta
from typing import Final, Protocol

from .statistics import TopicStatistics

__all__ = ["PATIENCE", "TaskProcessor"]

PATIENCE: Final = timedelta(seconds=30)
"""How long start and stop take at most, unless told otherwise."""


class TaskProcessor(Protocol):
    """Works on one topic from its start to its stop."""

    @property
    def topic(self) -> str:
        """The topic that it works on."""
        ...

    @property
    def owner(self) -> str | None:
        """The owner that it polls as, or None if that is not known."""
        ...

    @property
    def max_attempts(self) -> int | None:
        """How many attempts a task gets, or None if there is no limit."""
        ...

    @property
    def active(self) -> bool:
        """Whether it runs: from the moment start returns until its handler is closed."""
        ...

    @property
    def wanted(self) -> bool:
        """Whether it is to run as long as its program does, as far as is known."""
        ...

    @property
    def activation(self) -> bool | None:
        """Whether it is stored that the topic is to be processed, or None if nothing is."""
        ...

    @property
    def statistics(self) -> TopicStatistics:
        """What it has done so far."""
        ...

    def start(self, timeout: timedelta | None = PATIENCE) -> bool:
        """
        Begin, and wait until it has begun; tell whether it runs now and did not before.

        Raises:
            TimeoutError: it took too long; it does not run, nor will it.

        """
        ...

    def stop(self, timeout: timedelta | None = PATIENCE) -> bool:
        """
        Take no further tasks, finish what is under way, and wait for the end; tell whether it ran.

        Raises:
            TimeoutError: it takes too long; it still ends by itself.

        """
        ...

    def resume(self) -> bool:
        """Poll at once instead of pausing; tell whether it runs."""
        ...

    def initialize(self, timeout: timedelta | None = PATIENCE) -> bool:
        """Start with the program."""
        ...

    def shutdown(self, timeout: timedelta | None = PATIENCE) -> bool:
        """Stop with the program."""
        ...

    def follow(self) -> None:
        """Start or stop as is stored by now, if anything is; what is under way is not waited for."""
        ...

    def abandon(self) -> int:
        """Give back every task under way, and return how many: for a stop that took too long."""
        ...

    def recover(self) -> None:
        """Give back tasks that could be neither completed nor failed while the database was away."""
        ...

"""What runs the work on one topic."""

from datetime import timedelta
from typing import Final, Protocol

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
    def active(self) -> bool:
        """Whether it runs: from the moment start returns until its handler is closed."""
        ...

    @property
    def activation(self) -> bool | None:
        """Whether it is stored that the topic is to be processed, or None if that is not known."""
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

    def initialize(self) -> bool:
        """Start with the program."""
        ...

    def shutdown(self) -> bool:
        """Stop with the program."""
        ...

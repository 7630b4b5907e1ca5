"""Waking processors when there is something to do."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final, Protocol

__all__ = ["NOTIFIER_PATIENCE", "Notifiable", "ProcessorNotifier"]

NOTIFIER_PATIENCE: Final = timedelta(seconds=30)
"""How long start and stop of a notifier take at most, unless told otherwise."""


class Notifiable(Protocol):
    """What a notifier tells: something that works on one topic."""

    @property
    def topic(self) -> str:
        """The topic that it works on."""
        ...

    @property
    def active(self) -> bool:
        """Whether it runs."""
        ...

    @property
    def activation(self) -> bool | None:
        """Whether it is stored that the topic is to be processed, or None if nothing is."""
        ...

    def resume(self) -> bool:
        """Poll at once instead of pausing; tell whether it runs. Called often, so it must not take long."""
        ...

    def initialize(self) -> bool:
        """Start if the stored wish says so, without storing anything."""
        ...

    def shutdown(self) -> bool:
        """Stop without storing anything."""
        ...


class ProcessorNotifier(Protocol):
    """
    Wakes processors when tasks become READY, and starts and stops them when that is stored.

    After every gap, the one before its start included, it resumes all of them and reads what is stored about each,
    so that nothing that happened meanwhile is missed.
    """

    @property
    def active(self) -> bool:
        """Whether it was started and not stopped, also while it has no connection."""
        ...

    @property
    def connected(self) -> bool:
        """Whether it hears of tasks and activations at present."""
        ...

    def start(self, processors: Iterable[Notifiable], timeout: timedelta | None = NOTIFIER_PATIENCE) -> bool:
        """
        Begin to tell the processors; False if it is active already.

        A database that is away is no error: it is waited for.

        Raises:
            TimeoutError: the database neither answered nor refused in time; the notifier is not active.

        """
        ...

    def stop(self, timeout: timedelta | None = NOTIFIER_PATIENCE) -> bool:
        """
        Tell nobody any more, and wait for what is under way; False if it is not active.

        Raises:
            TimeoutError: a processor that is being started or stopped takes too long; no other follows it.

        """
        ...

"""Being woken when something happens in a topic, without working on it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from task_api import InvalidTaskError

if TYPE_CHECKING:
    from .notifier.notifier import Notifier

__all__ = ["Alarm", "engine_of"]


class Alarm:
    """What a notifier wakes: somebody who waits, as if it worked on the topic."""

    active = True
    activation = None
    any_commit = True
    """Where a notifier can't tell a decision from another commit, it is to ring for each."""

    def __init__(self, topic: str, ring: Callable[[], object]) -> None:
        self.topic = topic
        self._ring = ring
        self._notifier: Notifier | None = None
        self._tried = False

    @property
    def set_up(self) -> bool:
        """Whether it will ring."""
        return self._notifier is not None

    def listen(self, engine: Any) -> bool:
        """Begin to listen unless that was tried before; tell whether it was new, so that something may be missed."""
        if self._tried or engine is None:
            return False
        self._tried = True
        from .notifier import create_notifier

        try:
            notifier = create_notifier(engine)
            notifier.start([self])
        except (InvalidTaskError, TimeoutError):  # a database in memory, or one that is away: it is looked at instead
            return False
        self._notifier = notifier
        return True

    def close(self) -> None:
        """Listen no more."""
        if self._notifier:
            self._notifier.stop()

    def resume(self) -> bool:
        """Ring."""
        self._ring()
        return True

    def initialize(self) -> bool:
        """Do nothing: whoever waits is there."""
        return False

    def shutdown(self) -> bool:
        """Do nothing: whoever waits stays."""
        return False


def engine_of(tx: Any) -> Any:
    """Return the engine of a SQLAlchemy connection or session; a driver's connection has none."""
    if hasattr(tx, "run_sync"):  # of an asynchronous session, the bind is the asynchronous engine
        bound = getattr(tx, "bind", tx)
        return bound if hasattr(bound, "sync_engine") else getattr(bound, "engine", None)
    bound = tx.get_bind() if hasattr(tx, "get_bind") else tx
    return getattr(bound, "engine", None)

"""What a queue has to do in the benchmarks."""

from collections.abc import Iterable, Sequence

from .work import Work

__all__ = ["BATCH", "QUEUE", "Adapter"]

QUEUE = "q"
"""The name of the queue."""
BATCH = 500
"""How many tasks are taken at once, by queues that can."""


class Adapter:
    """
    One queue on one database, in one process.

    Only the queue's own public interface is used. A task is a text of about a hundred characters.

    Args:
        target: A URL of a PostgreSQL database, or the path of a SQLite file.
        batch: How many tasks to take at once, for queues that can.

    """

    def __init__(self, target: str, *, batch: int = BATCH) -> None:
        self.target = target
        self.batch = batch

    def setup(self) -> None:
        """Create the tables and the queue in an empty database."""

    def push_one(self, payloads: Iterable[str]) -> None:
        """Push each payload in a transaction of its own."""
        raise NotImplementedError

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Push each batch in the fastest way that is documented."""
        raise NotImplementedError

    def work(self, work: Work) -> None:
        """Take tasks and finish them, until told to stop."""
        raise NotImplementedError

    def unfinished(self) -> int | None:
        """How many tasks the queue says are not finished, if it can say so."""
        return None

    def close(self) -> None:
        """Close what was opened."""

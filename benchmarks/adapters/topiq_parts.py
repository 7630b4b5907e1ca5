"""topiq with a part of its schema taken away, which tells what that part costs."""

from typing import Any, Final

from sqlalchemy import text

from task_sql import schema

from .topiq import TopiqCalls

__all__ = ["TopiqParts"]

_UNCHECKED: Final = (
    "DROP VIEW task_pretty",
    "DROP VIEW task_specimen",
    "ALTER TABLE task ALTER state TYPE smallint, ALTER descent TYPE smallint",
)
_WITHOUT: Final = {
    "task_open": ("DROP INDEX task_open",),
    "task_done": ("DROP INDEX task_done",),
    "small indexes": tuple(f"DROP INDEX task_{name}" for name in ("rare", "due", "reference")),
    "times": ("DROP INDEX task_times",),
    "checks": _UNCHECKED,
    "notices": ("UPDATE task_schema SET notify = false",),
    "partitions": (),
}
"""What takes a part away."""


class TopiqParts(TopiqCalls):
    """
    The repository's calls, which have less to keep up.

    Args:
        without: Which part is missing, a key above.

    """

    def __init__(self, target: str, *, without: str, **options: Any) -> None:
        super().__init__(target, **options)
        self.without = without

    def setup(self) -> None:
        """Install the schema, and take the part away."""
        with self.engine.begin() as tx:
            schema.install(tx, partitioned=self.without != "partitions")
            for topic in self.topics:
                self.repository.initialize(tx, topic)
            for statement in _WITHOUT[self.without]:
                tx.execute(text(statement))

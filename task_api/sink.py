"""Pushing tasks."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Protocol, TypeVar

from .task import Task, TaskCreation

__all__ = ["Insertion", "TaskSink"]

T = TypeVar("T", contravariant=True)


class Insertion(Enum):
    """What a push does to the older tasks of the same topic and identifier. An ACTIVE one always stays."""

    APPEND = "APPEND"
    """Nothing."""
    SUPERSEDE = "SUPERSEDE"
    """READY ones become REDUNDANT."""
    REPLACE = "REPLACE"
    """READY, EXPIRED, FAILED, SUSPENDED, FILTERED and SUCCEEDED ones become REDUNDANT."""
    DELETE = "DELETE"
    """All are deleted."""
    UNIQUE = "UNIQUE"
    """Nothing, and if there is one that is neither REDUNDANT nor RECREATED, it is returned and nothing is pushed."""


class TaskSink(Protocol[T]):
    """Where producers push tasks, in their own transaction."""

    def push(self, tx: T, topic: str, creation: str | TaskCreation, *, insertion: Insertion = Insertion.APPEND) -> Task:
        """
        Push one task to the end of the topic.

        Raises:
            UnknownTopicError: the topic is not initialized; the transaction stays usable.
            InvalidTaskError: a name is empty or too long, or a due time has no time zone.

        """
        ...

    def push_many(
        self,
        tx: T,
        topic: str,
        creations: Iterable[str | TaskCreation] | Mapping[str, str | None],
        *,
        insertion: Insertion = Insertion.APPEND,
    ) -> list[Task]:
        """
        Push tasks, given as identifiers, creations, or a mapping from identifier to input, in their order.

        Of several creations with one identifier only the last stays READY (or SUSPENDED) unless they are
        appended: the earlier ones are stored REDUNDANT, and with DELETE they are not stored nor returned. With UNIQUE
        only the first is stored, unless there is one already; that one stands for all of them in what is returned.
        """
        ...

"""Releasing suspended tasks together."""

from collections.abc import Collection, Iterable
from enum import Enum
from typing import Protocol, TypeVar

__all__ = ["Junction", "TaskJuncture"]

T = TypeVar("T", contravariant=True)


class Junction(Enum):
    """When a group of identifiers is complete."""

    SINGULAR = "SINGULAR"
    """Each identifier has a SUSPENDED task."""
    ETERNAL = "ETERNAL"
    """Each identifier has a task in any state but REDUNDANT."""


class TaskJuncture(Protocol[T]):
    """Releases suspended tasks once all members of their group have arrived."""

    def junction(
        self,
        tx: T,
        topic: str,
        groups: Iterable[Collection[str]],
        *,
        junction: Junction = Junction.SINGULAR,
    ) -> set[str]:
        """
        Make the SUSPENDED tasks of every complete group READY; return the identifiers that were released.

        All groups are judged against the state before the call. Transactions that each bring one part of a
        group wait for each other here, so that one of them releases it.
        """
        ...

"""Slots of time and what is known of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from heapq import merge
from typing import Final

from task_api import Task

__all__ = ["COLLECTIONS", "SlotCoverage", "TimeSlot"]


@dataclass(frozen=True, slots=True, order=True)
class TimeSlot:
    """One slot of time. Equal, hashed and sorted by its bounds alone; all times are UTC."""

    start: datetime
    """Where it begins; belongs to it."""
    end: datetime
    """Where it ends; belongs to the next one."""
    failures: int = field(default=0, compare=False)
    """How often it failed so far, whatever became of it then."""
    message: str | None = field(default=None, compare=False)
    """What the last outcome said."""
    holder: str | None = field(default=None, compare=False)
    """The owner who acquired it last."""
    creator: str | None = field(default=None, compare=False)
    """The owner who created it."""
    created: datetime | None = field(default=None, compare=False)
    """When it was created."""
    acquired: datetime | None = field(default=None, compare=False)
    """When it was acquired last."""
    completed: datetime | None = field(default=None, compare=False)
    """When its last outcome was decided."""
    task: Task | None = field(default=None, compare=False, repr=False)
    """The task behind it, which is the claim of a slot that was acquired; None if it is missing."""

    def __str__(self) -> str:
        return f"{self.start.isoformat()} to {self.end.isoformat()}"


COLLECTIONS: Final = ("done", "skipped", "open", "held", "failed", "missing")
"""The names of the collections of a coverage."""


@dataclass(frozen=True, slots=True)
class SlotCoverage:
    """How a stretch of time is covered by slots, each of which is in exactly one collection, in the order of time."""

    start: datetime
    """Where the stretch begins."""
    end: datetime
    """Where it ends; not part of it."""
    done: tuple[TimeSlot, ...] = ()
    """Completed."""
    skipped: tuple[TimeSlot, ...] = ()
    """Skipped."""
    open: tuple[TimeSlot, ...] = ()
    """Still to be done, and held by nobody; one that a transaction holds which is not committed is seen so too."""
    held: tuple[TimeSlot, ...] = ()
    """Acquired by a claim that is committed."""
    failed: tuple[TimeSlot, ...] = ()
    """Open again after a failure."""
    missing: tuple[TimeSlot, ...] = ()
    """Never created, or purged."""

    @property
    def covered(self) -> bool:
        """Whether nothing is left to do: every slot is done or skipped."""
        return not (self.open or self.held or self.failed or self.missing)

    def __iter__(self) -> Iterator[tuple[str, TimeSlot]]:
        """All slots in the order of time, each with the name of its collection."""
        named = ([(slot, name) for slot in getattr(self, name)] for name in COLLECTIONS)
        return ((name, slot) for slot, name in merge(*named))

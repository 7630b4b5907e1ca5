"""Naming a task, and what becomes of those who wait for one that fails."""

from dataclasses import dataclass
from enum import Enum

__all__ = ["OnAbort", "TaskRef"]


@dataclass(frozen=True, slots=True, order=True)
class TaskRef:
    """One task, by its topic and number."""

    topic: str
    """The topic that it belongs to."""
    sequence: int
    """Its number."""

    def __str__(self) -> str:
        return f"{self.topic} {self.sequence}"


class OnAbort(Enum):
    """What becomes of a task when one that it waits for FAILED, was made redundant, or deleted before its end."""

    CASCADE = 0
    """It FAILED too, and so do those who wait for it."""
    RUN = 1
    """It runs when the others are done, and is told how many failed."""
    WAIT = 2
    """It goes on waiting, until that one is revived and done."""

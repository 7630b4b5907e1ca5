"""What an operator asks for: filters, directions and summaries."""

from dataclasses import dataclass
from enum import Enum

from .state import TaskState

__all__ = ["Counting", "Direction", "Listing", "Snapshot", "Summary"]


class Direction(Enum):
    """Which way a page is read."""

    FORWARD = "FORWARD"
    """Ascending sequences above the start."""
    BACKWARD = "BACKWARD"
    """Descending sequences below the start."""


class Snapshot(Enum):
    """Which tasks are counted."""

    RECENT = "RECENT"
    """Per topic and identifier only the task with the highest sequence."""
    TOTAL = "TOTAL"
    """All."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A filter for pages; what is given must match."""

    state: TaskState | None = None
    """Only tasks in this state."""
    reference: str | None = None
    """Only tasks with this reference."""
    identifier: str | None = None
    """Only tasks with this identifier."""


@dataclass(frozen=True, slots=True)
class Counting:
    """A filter for counts; what is given must match."""

    topic: str | None = None
    """Only this topic."""
    state: TaskState | None = None
    """Only tasks in this state; for RECENT judged after the most recent task was picked."""
    reference: str | None = None
    """Only tasks with this reference."""
    identifier: str | None = None
    """Only tasks with this identifier."""


@dataclass(frozen=True, slots=True)
class Summary:
    """How many tasks there are, and the last of them."""

    count: int
    """The number of tasks."""
    bound: int
    """The highest sequence among them."""

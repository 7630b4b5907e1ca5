"""One of several that race: a repository, transactions of its own, and ways to synchronise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from task_api import TaskRepository

TIMEOUT = 40.0
"""Seconds after which any wait has failed; nothing waits that long unless it hangs."""

CROWD = 4
"""How many race."""


@dataclass(frozen=True)
class Part:
    """What one member is to do: a function that another process can import, and its options."""

    owner: str
    role: Callable[..., Any]
    options: dict[str, Any] = field(default_factory=dict)


def part(owner: str, role: Callable[..., Any], **options: Any) -> Part:
    """Shorthand for a part."""
    return Part(owner, role, options)


@dataclass(frozen=True)
class Member:
    """What a role gets as its first argument."""

    repository: TaskRepository[Any]
    begin: Callable[[], AbstractContextManager[Any]]
    """A transaction, committed on normal exit and rolled back on an exception."""
    meet: Callable[[], object]
    """Wait until every member of the race is here."""
    say: Callable[[Any], object]
    """Tell the test something (processes only)."""
    hear: Callable[[], Any]
    """Wait for what the test tells (processes only)."""

"""Numbers as people read them."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number and what it counts: ``1 task``, ``2 tasks``, or as is said of many."""
    return f"{number} {one if number == 1 else many or one + 's'}"

"""
SQLite: which READY tasks can be found by their identifiers.

An index on identifiers makes each push write a page more, a quarter of what it costs, and most tasks are never looked
for that way while they wait for their turn. So what is pushed READY is not in that index until somebody looks for
identifiers in its topic: he enters all that wait there, once, and from then on each push enters its own.

Tasks that wait for something else when they are pushed, or are told to later, are listed at once, and so is what was
claimed before. Those that somebody inserts by hand are, too.
"""

from typing import Final

__all__ = ["ENTER", "LOOK", "UNLISTED", "in_listed", "in_open"]

UNLISTED: Final = "state = 1 AND listed = 0 AND token = 0"
"""That a task is READY, but not listed."""

LOOK: Final = "UPDATE task_topic SET looked = 1 WHERE topic = :topic AND looked = 0"
"""Have the tasks of a topic listed from now on, unless they are already: topic."""
ENTER: Final = f"UPDATE task INDEXED BY task_ready SET listed = 1 WHERE topic = :topic AND {UNLISTED}"
"""List those of a topic: topic."""


def in_open(name: str = "task") -> str:
    """Say that a row is in the index ``task_open``, neither READY nor finished, in the words that it is found by."""
    return f"{name}.state <= 4 AND {name}.state <> 1"


def in_listed(name: str = "task") -> str:
    """Say that a row is in the index ``task_listed``, likewise."""
    return f"{name}.state = 1 AND ({name}.listed = 1 OR {name}.token > 0)"

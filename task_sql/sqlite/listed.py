"""
SQLite: which tasks can be found by their identifiers.

An index on identifiers makes each push write a page more, which is a quarter of what a push costs; and most tasks are
never looked for that way while they wait for their turn. So a task that is pushed READY is not in that index: it is
entered when somebody looks for identifiers in its topic, with all others that have come since the last time, and by
itself when its state changes. A writer is alone with the database, so that nobody comes between.

How far that went is noted with the topic: no READY task up to there is missing. For numbers only rise, and a task that
comes back to READY was claimed, which raised its token, or is listed since it was pushed in another state or told to
wait.
"""

from typing import Final

__all__ = ["BEYOND", "ENTER", "NOTE", "NOT_LISTED", "in_open"]

_BEYOND: Final = """
    SELECT t.sequence FROM task_topic AS p
    CROSS JOIN task AS t INDEXED BY task_ready ON t.topic = p.topic AND t.state = 1 AND t.sequence > p.listed
    WHERE p.topic = :topic"""

BEYOND: Final = f"SELECT EXISTS ({_BEYOND})"
"""Whether a topic has READY tasks beyond the noted number: topic."""
NOT_LISTED: Final = "listed = 0 AND token = 0"
"""That a READY task is missing in the index."""
ENTER: Final = f"""
UPDATE task SET listed = 1
WHERE sequence IN ({_BEYOND}
) AND {NOT_LISTED}
"""
"""Enter those that are missing: topic."""
NOTE: Final = "UPDATE task_topic SET listed = (SELECT max(sequence) FROM task) WHERE topic = :topic"
"""Note how far that went: topic."""


def in_open(name: str = "task") -> str:
    """Say that a row is in the index ``task_open``, in the words of that index, which finds it only so."""
    return f"{name}.state <= 4 AND ({name}.listed = 1 OR {name}.token > 0 OR {name}.state <> 1)"

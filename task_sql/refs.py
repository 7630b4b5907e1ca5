"""Names of tasks, by topic."""

from collections.abc import Iterable

from task_api import TaskRef

__all__ = ["by_topic"]


def by_topic(refs: Iterable[TaskRef]) -> dict[str, list[int]]:
    """Return the sequences of each topic, both in their order, which is that in which tasks are locked."""
    topics: dict[str, list[int]] = {}
    for ref in sorted(refs):
        topics.setdefault(ref.topic, []).append(ref.sequence)
    return topics

"""The processors of one worker."""

from collections.abc import Iterable
from typing import Final

from task_api import InvalidTaskError

from .processor import TaskProcessor

__all__ = ["roster"]

_METHODS: Final = ("start", "stop", "resume", "initialize", "shutdown", "follow", "abandon", "recover")


def roster(processors: Iterable[TaskProcessor], owner: str) -> dict[str, TaskProcessor]:
    """Return processors by topic, if each can be run by a worker that beats for this owner."""
    found: dict[str, TaskProcessor] = {}
    for processor in _listed(processors):
        _check(processor, owner)
        if processor.topic in found:
            message = f"two processors for topic {processor.topic!r}; let one take larger batches, or buffer them"
            raise InvalidTaskError(message)
        found[processor.topic] = processor
    if not found:
        message = "a worker needs at least one processor"
        raise InvalidTaskError(message)
    return found


def _listed(processors: Iterable[TaskProcessor]) -> list[TaskProcessor]:
    if not isinstance(processors, Iterable) or isinstance(processors, str):
        message = f"processors must be a list of processors, not {type(processors).__name__}"
        raise InvalidTaskError(message)
    return list(processors)


def _check(processor: TaskProcessor, owner: str) -> None:
    # By the type, so that no property is asked for, which may ask the database.
    if missing := [name for name in _METHODS if not callable(getattr(type(processor), name, None))]:
        kind = type(processor).__name__
        message = f"a processor is a TaskManager or the like, not {kind}, which has no {', '.join(missing)}"
        raise InvalidTaskError(message)
    if processor.owner not in (None, owner):
        message = (
            f"the processor of topic {processor.topic!r} polls as {processor.owner!r}, but the worker beats for"
            f" {owner!r}; give both the same repository"
        )
        raise InvalidTaskError(message)

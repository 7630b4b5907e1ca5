"""Arguments are judged before any statement runs."""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from enum import Enum
from itertools import chain
from operator import attrgetter
from typing import Final, TypeVar, cast

from task_api import MAX_SEQUENCE, TOPIC_LENGTH, Claim, InvalidTaskError, Task, TaskState
from task_api.task import SPAN, checked_name

__all__ = [
    "check_tasks",
    "checked_bound",
    "checked_enum",
    "checked_lease",
    "checked_moment",
    "checked_size",
    "checked_states",
    "checked_task",
    "checked_tasks",
    "checked_text",
    "checked_timeout",
    "checked_topic",
    "storable",
]

EnumT = TypeVar("EnumT", bound=Enum)

_TOKENS: Final = 2**31 - 1
_CLAIM: Final = attrgetter("claim")
_NUL: Final = "\N{SYMBOL FOR NULL}"


def checked_topic(topic: object) -> str:
    """Return a topic's name that can be stored."""
    return checked_name("topic", topic, TOPIC_LENGTH)


def checked_enum(kind: type[EnumT], value: object) -> EnumT:
    """Return a member of the enum."""
    if isinstance(value, kind):
        return value
    names = ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
    message = f"{value!r} is none of {names}"
    raise InvalidTaskError(message)


def checked_states(states: object) -> frozenset[TaskState]:
    """Return states, of which there may be one."""
    if isinstance(states, TaskState):
        states = (states,)
    if not isinstance(states, Collection) or isinstance(states, str):
        message = f"states must be a collection of TaskState, not {type(states).__name__}"
        raise InvalidTaskError(message)
    return frozenset(checked_enum(TaskState, state) for state in states)


def checked_size(size: object) -> int:
    """Return a number of tasks."""
    if not isinstance(size, int) or isinstance(size, bool):
        message = f"size must be an int, not {type(size).__name__}"
        raise InvalidTaskError(message)
    if size < 0:
        message = f"size must not be negative: {size}"
        raise InvalidTaskError(message)
    if size > MAX_SEQUENCE:
        message = f"size must not be beyond all sequence numbers: {size}"
        raise InvalidTaskError(message)
    return size


def checked_bound(name: str, sequence: object) -> int:
    """Return a sequence to compare with."""
    if not isinstance(sequence, int) or isinstance(sequence, bool):
        message = f"{name} must be a sequence number, not {type(sequence).__name__}"
        raise InvalidTaskError(message)
    if not -(2**63) <= sequence < 2**63:
        message = f"{name} is out of the range of sequence numbers: {sequence}"
        raise InvalidTaskError(message)
    return sequence


def checked_timeout(timeout: object, name: str = "timeout") -> timedelta:
    """Return a time that is not negative."""
    if not isinstance(timeout, timedelta):
        message = f"{name} must be a timedelta, not {type(timeout).__name__}"
        raise InvalidTaskError(message)
    if not timedelta() <= timeout <= SPAN:
        message = f"{name} must lie between nothing and a thousand years: {timeout!r}"
        raise InvalidTaskError(message)
    return timeout


def checked_lease(lease: object) -> timedelta | None:
    """Return the length of a claim, if it has one."""
    return None if lease is None else checked_timeout(lease, "lease")


def checked_moment(name: str, moment: object) -> datetime:
    """Return an aware moment in UTC."""
    if not isinstance(moment, datetime):
        message = f"{name} must be an aware datetime, not {type(moment).__name__}"
        raise InvalidTaskError(message)
    if moment.utcoffset() is None:
        message = f"{name} must be an aware datetime, give it a time zone: {moment!r}"
        raise InvalidTaskError(message)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the first or last day in a zone far from UTC
        return moment.replace(tzinfo=UTC)


def checked_task(task: object) -> Task:
    """Return a task."""
    if not isinstance(task, Task):
        message = f"{task!r} is not a Task; pass what a push, a poll or a page returned"
        raise InvalidTaskError(message)
    sequence, token = task.sequence, task.token
    if type(sequence) is not int or not 0 <= sequence <= MAX_SEQUENCE:
        checked_bound("a task's sequence", sequence)
    if not isinstance(token, int) or isinstance(token, bool) or not 0 <= token <= _TOKENS:
        message = f"a task's token is the number that a poll gave it, not {token!r}"
        raise InvalidTaskError(message)
    if not isinstance(task.claim, Claim):
        checked_enum(Claim, task.claim)
    return task


def check_tasks(tasks: Collection[object]) -> None:
    """Judge many tasks at once; only where one of them may be wrong, each alone."""
    if set(map(type, tasks)) == {Task}:
        known = cast("Collection[Task]", tasks)
        sequences, tokens = [task.sequence for task in known], [task.token for task in known]
        kinds = set(map(type, chain(sequences, tokens))), set(map(type, map(_CLAIM, known)))
        if (
            kinds == ({int}, {Claim})
            and (min(sequences) >= 0 and max(sequences) <= MAX_SEQUENCE)
            and (min(tokens) >= 0 and max(tokens) <= _TOKENS)
        ):
            return
    for task in tasks:
        checked_task(task)


def checked_tasks(tasks: Iterable[object]) -> list[Task]:
    """Return tasks in their order, each once."""
    if isinstance(tasks, Task) or not isinstance(tasks, Iterable):
        message = f"tasks must be an iterable of Task, not {type(tasks).__name__}"
        raise InvalidTaskError(message)
    return list(dict.fromkeys(checked_task(task) for task in tasks))


def checked_text(name: str, text: object) -> str | None:
    """Return a text, if there is one."""
    if text is None or isinstance(text, str):
        return text
    message = f"{name} must be a str or None, not {type(text).__name__}"
    raise InvalidTaskError(message)


def storable(text: str | None) -> str | None:
    """Return a text that every database takes: what none can store is shown by a visible sign instead, '' is None."""
    if not text:
        return None
    if "\0" in text:
        text = text.replace("\0", _NUL)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text

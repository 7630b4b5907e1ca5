"""How a worker leaves: finish, give back, end, each within bounds whatever hangs."""

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from task_api import ProcessorNotifier

from .deadline import Deadline, seconds
from .listener import LOGGER
from .processor import TaskProcessor
from .repeater import Repeater

__all__ = ["leave"]

_SLICE: Final = timedelta(milliseconds=50)
_BOUND: Final = timedelta(seconds=3)
_LAST: Final = timedelta(seconds=1)


def leave(
    processors: Sequence[TaskProcessor],
    notifier: ProcessorNotifier | None,
    threads: Sequence[Repeater],
    grace: timedelta,
    hurry: threading.Event,
) -> list[str]:
    """
    Stop everything in order, whatever fails; return the topics that are still worked on.

    Args:
        processors: What works on the topics.
        notifier: What might start them again.
        threads: The heartbeat, then all others.
        grace: How long work may go on.
        hurry: Ends the grace.

    """
    heart, *others = threads
    for thread in others:
        thread.stop(timedelta())
    if notifier is not None:
        _bounded("stopping the notifier", [lambda: notifier.stop(_BOUND)])
    busy = _end(processors, Deadline(grace), hurry.is_set)
    for thread in others:
        thread.stop(_BOUND)
    # One of them may have started what was stopped.
    busy += _end([processor for processor in processors if processor not in busy], Deadline(grace), hurry.is_set)
    _bounded("giving back stray tasks", [processor.recover for processor in processors])
    # Last, so that nothing expires that is still to be decided.
    heart.stop(_BOUND)
    return [processor.topic for processor in busy]


def _end(processors: Sequence[TaskProcessor], deadline: Deadline, hurried: Callable[[], bool]) -> list[TaskProcessor]:
    """Let work finish in time, give back the rest, and return what does not end all the same."""
    busy = _finish(processors, deadline, hurried)
    if busy:
        topics = ", ".join(repr(processor.topic) for processor in busy)
        LOGGER.warning("giving back what is not finished in time: %s", topics)
        _bounded("giving back tasks", [processor.abandon for processor in busy])
        busy = _finish(busy, Deadline(_LAST), lambda: False)
    return busy


def _finish(
    processors: Sequence[TaskProcessor], deadline: Deadline, hurried: Callable[[], bool]
) -> list[TaskProcessor]:
    """Ask all to stop, wait for them, and return those that are not done in time."""
    busy = [processor for processor in processors if not _shut_down(processor, timedelta())]
    while busy and not deadline.over and not hurried():
        busy = [processor for processor in busy if not _shut_down(processor, min(_SLICE, deadline.left or _SLICE))]
    return busy


def _shut_down(processor: TaskProcessor, timeout: timedelta) -> bool:
    try:
        processor.shutdown(timeout)
    except TimeoutError:
        return False
    except BaseException:  # noqa: BLE001 - logged; the rest has to be stopped too
        LOGGER.exception("topic %r could not be stopped", processor.topic)
    return True


def _bounded(what: str, calls: Sequence[Callable[[], object]]) -> None:
    """Make calls that may hang, beside each other, and wait for them for a while."""
    threads = [threading.Thread(target=_call, args=(what, call), name="task-departure", daemon=True) for call in calls]
    deadline = Deadline(_BOUND)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds(deadline.left))
        if thread.is_alive():
            LOGGER.error("%s takes too long and is no longer waited for", what)


def _call(what: str, call: Callable[[], object]) -> None:
    try:
        call()
    except BaseException as error:  # noqa: BLE001 - logged; the rest has to be stopped too
        LOGGER.warning("%s failed: %r", what, error)

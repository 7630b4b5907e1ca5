"""Locks on files, which the system takes away with the last process that has them, however it ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from task_api import InvalidTaskError

try:
    import fcntl
except ImportError:  # where there are no such locks
    fcntl = None  # type: ignore[assignment]

__all__ = ["held_lock", "require_locks", "try_lock"]


def require_locks() -> None:
    """Complain about a system on which processes can't be detached."""
    if fcntl is None:
        message = "detached processes need sessions and file locks, which this system does not have"
        raise InvalidTaskError(message)


def try_lock(file: int) -> bool:
    """Lock an open file, and tell whether nobody else has; processes that inherit the file share the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def held_lock(path: Path) -> Iterator[None]:
    """Wait for the lock on a path, which is made if need be, and hold it inside the block."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)

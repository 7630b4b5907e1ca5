"""Locks on files, which the system takes away with the last process that has them, however it ends."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from task_api import InvalidTaskError

try:
    import fcntl
except ImportError:  # where there are no such locks
    fcntl = None  # type: ignore[assignment]

__all__ = ["PrivateFiles", "held_lock", "require_locks", "try_lock"]


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
        try:
            yield
        finally:
            # Said, as a process that was forked meanwhile has the file too and would go on to hold it.
            fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        os.close(file)


class PrivateFiles:
    """Files that are closed in whatever is forked as long as they are here, for instance by a pool of processes."""

    def __init__(self) -> None:
        self._turn = threading.RLock()
        self._files: set[int] = set()
        if fcntl is not None:
            os.register_at_fork(
                before=self._turn.acquire, after_in_parent=self._turn.release, after_in_child=self._forked
            )

    @contextmanager
    def opening(self) -> Iterator[set[int]]:
        """Give the set to add files to as they are opened; nothing is forked inside the block."""
        with self._turn:
            yield self._files

    def close(self, *files: int) -> None:
        """Close some of them."""
        with self._turn:
            for file in files:
                self._files.discard(file)
                os.close(file)

    def _forked(self) -> None:
        while self._files:
            os.close(self._files.pop())
        self._turn.release()

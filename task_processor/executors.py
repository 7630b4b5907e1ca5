"""Executors that break, and what then."""

import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from .handler import UnavailableError
from .listener import LOGGER
from .threads import DaemonExecutor

__all__ = ["RenewingExecutor", "submit"]

R = TypeVar("R")


class RenewingExecutor(Executor):
    """
    Makes an executor when it is first needed, and another one when that broke, as pools of processes do.

    Work that was under way in the broken one fails.

    Args:
        factory: Makes an executor: ``lambda: ProcessPoolExecutor(4)``.

    """

    def __init__(self, factory: Callable[[], Executor]) -> None:
        self._factory = factory
        self._lock = threading.Lock()
        self._executor: Executor | None = None
        self._closed = False

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> "Future[R]":
        """Run a call on the present executor, or on a new one if that broke."""
        executor = self._present()
        try:
            return executor.submit(fn, *args, **kwargs)
        except BrokenExecutor as error:
            LOGGER.warning("an executor broke and is replaced: %r", error)
            return self._renewed(executor).submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """Shut the present executor down, and make no other."""
        with self._lock:
            self._closed = True
            executor = self._executor
        if executor is not None:
            executor.shutdown(wait, cancel_futures=cancel_futures)

    def _present(self) -> Executor:
        with self._lock:
            if self._closed:
                message = "cannot schedule new futures after shutdown"
                raise RuntimeError(message)
            if self._executor is None:
                self._executor = self._factory()
            return self._executor

    def _renewed(self, broken: Executor) -> Executor:
        with self._lock:
            # Of several that find it broken the first replaces it.
            if self._executor is broken:
                self._executor = None
                broken.shutdown(wait=False)
        return self._present()


def submit(executor: Executor, function: Callable[..., R], *arguments: Any) -> "Future[R]":
    """
    Submit a call; on threads it is made in the caller's context, so that it is known what it belongs to.

    Raises:
        UnavailableError: the executor broke or was shut down.

    """
    try:
        if isinstance(executor, ThreadPoolExecutor | DaemonExecutor):
            return executor.submit(copy_context().run, function, *arguments)
        return executor.submit(function, *arguments)
    except (BrokenExecutor, RuntimeError) as error:
        message = f"the executor takes no more work: {error}"
        raise UnavailableError(message) from error

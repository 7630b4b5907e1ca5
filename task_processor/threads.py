"""Threads that do not keep a program from ending, as those of the standard library's executor do."""

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, Final, TypeVar

__all__ = ["DaemonExecutor"]

R = TypeVar("R")
_Call = tuple[Future[Any], Callable[[], Any]]

_LIMIT: Final = min(32, (os.cpu_count() or 1) + 4)


class DaemonExecutor(Executor):
    """Runs calls on named threads, which are made when they are needed, up to a limit."""

    def __init__(self, name: str, limit: int | None = None) -> None:
        self._name = name
        self._limit = limit or _LIMIT
        self._changed = threading.Condition(threading.Lock())
        self._calls: deque[_Call] = deque()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._closed = False

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> "Future[R]":
        """Run a call as soon as a thread is free."""
        future: Future[R] = Future()
        # Critical section: there is a thread for each call that waits, or there are enough of them.
        with self._changed:
            if self._closed:
                message = "cannot schedule new futures after shutdown"
                raise RuntimeError(message)
            if self._idle <= len(self._calls) and len(self._threads) < self._limit:
                self._begin()
            self._calls.append((future, partial(fn, *args, **kwargs)))
            self._changed.notify()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """Take no more calls; by default wait for those taken before."""
        with self._changed:
            self._closed = True
            dropped = list(self._calls) if cancel_futures else []
            if cancel_futures:
                self._calls.clear()
            self._changed.notify_all()
        for future, _ in dropped:
            future.cancel()
        if wait:
            for thread in self._threads:
                thread.join()

    def _begin(self) -> None:
        name = f"{self._name}_{len(self._threads)}"
        thread = threading.Thread(target=self._main, name=name, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # With some threads the call waits for its turn; without any it would wait for ever.
            if not self._threads:
                raise
        else:
            self._threads.append(thread)

    def _main(self) -> None:
        while (taken := self._take()) is not None:
            future, call = taken
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:  # noqa: BLE001 - the future's
                    future.set_exception(error)
            # Nothing of a call is kept alive while the next one is waited for.
            del taken, future, call

    def _take(self) -> "_Call | None":
        with self._changed:
            self._idle += 1
            while not self._calls and not self._closed:
                self._changed.wait()
            self._idle -= 1
            return self._calls.popleft() if self._calls else None

"""Coroutines called from plain threads, all on one event loop, so that they can share its connections."""

import asyncio
import threading
from collections.abc import Awaitable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from task_api import TaskDecision, TaskResultError

from .handler import ShutdownError
from .portable import portable, portable_outcome

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["EventLoopThread", "decide", "perform"]


class EventLoopThread:
    """An event loop on a named thread of its own, which starts when it is first needed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, awaitable: Awaitable[Any]) -> "Future[Any]":
        """Begin to await, and return at once."""
        return self._begin(_await(awaitable), [awaitable])

    def gather(self, awaitables: Sequence[Awaitable[Any]]) -> list[Any]:
        """Await all at once and return what each of them gave or raised."""
        return list(self._begin(_gather(awaitables), awaitables).result()) if awaitables else []

    def run(self, awaitable: Awaitable[Any]) -> Any:  # noqa: ANN401 - whatever it gives
        """Await one, and raise what it raises."""
        return self.submit(awaitable).result()

    def close(self) -> None:
        """End the loop; what still runs in it is cancelled."""
        with self._lock:
            self._closed = True
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _begin(self, coroutine: Coroutine[Any, Any, Any], awaited: Sequence[Awaitable[Any]]) -> "Future[Any]":
        # Critical section: what gets into the loop before it is closed is at least cancelled.
        with self._lock:
            if self._closed:
                for each in (coroutine, *awaited):
                    if isinstance(each, Coroutine):
                        each.close()
                message = "the handler is closed"
                raise ShutdownError(message)
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name=self._name, daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


def perform(function: Any, *arguments: Any) -> Any:  # noqa: ANN401 - whatever it is and gives
    """Call a function, plain or asynchronous, to its end; what executors in other processes are given."""
    outcome = function(*arguments)
    return asyncio.run(_await(outcome)) if isinstance(outcome, Awaitable) else outcome


def decide(function: Any, *arguments: Any) -> Any:  # noqa: ANN401 - whatever it is and gives
    """Perform a function; an error that carries a result becomes a decision here, before its cause can get lost."""
    try:
        return portable_outcome(perform(function, *arguments))
    except TaskResultError as error:
        return portable_outcome(TaskDecision.of(error))
    except BaseException as error:
        if (other := portable(error)) is not error:
            raise other from None
        raise


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        for task in (left := asyncio.all_tasks(loop)):
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def _gather(awaitables: Sequence[Awaitable[Any]]) -> list[Any]:
    return await asyncio.gather(*awaitables, return_exceptions=True)


async def _await(awaitable: Awaitable[Any]) -> Any:  # noqa: ANN401 - whatever it gives
    return await awaitable

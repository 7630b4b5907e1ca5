"""Signals that ask a program to end."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

__all__ = ["handled_signals"]

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def handled_signals(tell: Callable[[int], object]) -> Iterator[None]:
    """
    Tell of SIGTERM and SIGINT inside the block instead of what they did before.

    Only the main thread may handle signals; in any other this does nothing. What is told must not take locks.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, _: FrameType | None) -> None:
        tell(number)

    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: it was installed from outside of Python and can't be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

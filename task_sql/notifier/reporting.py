"""Telling the application what went wrong."""

import logging
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["LOGGER", "OnError", "Report", "reporting"]

LOGGER = logging.getLogger("task_sql.notifier")

OnError: TypeAlias = Callable[[BaseException], None]
"""What the application wants to hear errors by."""

Report: TypeAlias = Callable[[BaseException], None]
"""The same, but it never raises."""


def reporting(on_error: OnError | None) -> Report:
    """Make errors known to the consumer, or to the log if there is none; its own errors go to the log too."""

    def report(error: BaseException) -> None:
        if on_error is None:
            LOGGER.error("%s: %s", type(error).__name__, error, exc_info=error)
            return
        try:
            on_error(error)
        except BaseException:
            LOGGER.exception("the consumer of a notifier's errors raised")

    return report

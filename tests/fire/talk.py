"""What the programs of all processes have in common."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import task_sql

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Engine

    from tests.fire.plan import Plan


def say(word: str, number: int = 0) -> None:
    """Tell the conductor, on a line of its own whatever other threads say."""
    sys.stdout.write(f"{word} {number}\n")
    sys.stdout.flush()


def hear(listener: Callable[[str], None]) -> None:
    """Listen to the conductor on a thread of its own, and end when it is gone."""

    def listen() -> None:
        for line in sys.stdin:
            listener(line.strip())
        os._exit(99)

    threading.Thread(target=listen, daemon=True).start()


def engine_of(plan: Plan, url: str, size: int) -> Engine:
    """An engine with room for some connections, none of which is waited for for ever."""
    arguments: dict[str, Any] = {"connect_timeout": 5} if plan.database == "postgresql" else {}
    if plan.pooled:
        arguments["prepare_threshold"] = None  # a statement may be prepared in another session than it is used in
    return task_sql.create_engine(url, pool_size=size, max_overflow=size, connect_args=arguments)

"""
What a fault can not do to a process from outside: the process does it to itself when it gets a signal.

A member calls ``obey`` once, on its main thread.
"""

from __future__ import annotations

import datetime as dt
import os
import signal
import sqlite3
import sys
import time
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import sqlalchemy
from sqlalchemy.pool import Pool

if TYPE_CHECKING:
    from types import FrameType

_FIRST = signal.SIGRTMIN + 1


class Order(IntEnum):
    """What a member is told to do, as the number of a signal."""

    AHEAD = _FIRST
    """From now on the wall clock is an hour ahead."""
    BEHIND = _FIRST + 1
    """From now on the wall clock is an hour behind."""
    ON_TIME = _FIRST + 2
    """The wall clock is right again."""
    READ_ONLY = _FIRST + 3
    """SQLite takes its database for one that can't be written to."""
    FULL = _FIRST + 4
    """SQLite finds no room for one more page."""
    WRITABLE = _FIRST + 5
    """SQLite works as ever."""


_SHIFTS = {Order.AHEAD: 3600.0, Order.BEHIND: -3600.0, Order.ON_TIME: 0.0}
_PRAGMAS = {
    Order.READ_ONLY: ("PRAGMA query_only = ON",),
    Order.FULL: ("PRAGMA max_page_count = 1",),  # which means: no more than there are
    Order.WRITABLE: ("PRAGMA query_only = OFF", "PRAGMA max_page_count = 1073741823"),
}
_real_time, _real_time_ns = time.time, time.time_ns
_RealDatetime: TypeAlias = dt.datetime
_shift = 0.0
_storage = Order.WRITABLE


def obey() -> None:
    """Do from now on what faults say."""
    time.time = lambda: _real_time() + _shift
    time.time_ns = lambda: _real_time_ns() + int(_shift * 1e9)
    dt.datetime = _Datetime  # type: ignore[misc]
    for name, module in list(sys.modules.items()):
        if name.startswith("task_") and getattr(module, "datetime", None) is _RealDatetime:
            vars(module)["datetime"] = _Datetime
    sqlalchemy.event.listen(Pool, "checkout", _check_out)
    for order in Order:
        signal.signal(order, _hear)


def tell(process: int, order: Order) -> bool:
    """Tell a process what to do; False if it does not listen (yet), or is gone."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
        # A signal that is not caught would end it.
        if not int(caught.split()[1], 16) >> (order - 1) & 1:
            return False
        os.kill(process, order)
    except (OSError, StopIteration):
        return False
    return True


def _hear(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as called
    global _shift, _storage  # noqa: PLW0603 - there is one clock and one disk
    order = Order(number)
    if order in _SHIFTS:
        _shift = _SHIFTS[order]
    else:
        _storage = order


def _check_out(connection: Any, record: Any, _proxy: object) -> None:  # noqa: ANN401 - as called
    if isinstance(connection, sqlite3.Connection) and record.info.get("storage", Order.WRITABLE) is not _storage:
        record.info["storage"] = _storage
        for pragma in (*_PRAGMAS[Order.WRITABLE], *_PRAGMAS[_storage]):
            connection.execute(pragma).close()


class _Either(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _RealDatetime)


class _Datetime(_RealDatetime, metaclass=_Either):
    """The real thing but for what it takes for now."""

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:  # type: ignore[override]
        return _RealDatetime.now(tz) + dt.timedelta(seconds=_shift)

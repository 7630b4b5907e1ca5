"""
Ways to break a promise on purpose, so that each rule is seen to notice it.

Each is a change of the library, or of how it is used, in the processes of a run; nothing is changed anywhere else.
"""

from __future__ import annotations

import os
import queue
import re
import threading
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import task_sql
import task_sql.juncture
import task_sql.sink
import task_sql.source
from task_api import Claim, Condition, Insertion, Order
from task_sql.postgresql.hold import HOLD as POSTGRESQL_HOLD
from task_sql.sqlite.claim import CLAIM as SQLITE_CLAIM
from task_sql.sqlite.hold import HOLD as SQLITE_HOLD
from tests.fire import producer, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

_Source: Any = task_sql.source.SqlTaskSource
_Sink: Any = task_sql.sink.SqlTaskSink
_Juncture: Any = task_sql.juncture.SqlTaskJuncture
_Producer: Any = producer.Producer
_tables: Any = tables
_alike: Any = POSTGRESQL_HOLD.complete_alike


class Sabotage(NamedTuple):
    """One way to break something."""

    kinds: tuple[str, ...]
    """Whose processes it is done in."""
    rule: str
    """The rule that must notice."""
    act: Callable[[], None]


def _changed(statements: Any, pattern: str, replacement: str) -> None:  # noqa: ANN401 - a mapping that can be changed
    """Change the statements for committed claims without a condition, which are where the tests look."""
    for key, statement in statements.items():
        parts = key if isinstance(key, tuple) else (key,)
        if Claim.COMMITTED in parts:
            statements[key] = re.sub(pattern, replacement, statement)
            assert statements[key] != statement, f"nothing to break in {statement}"


def _fence() -> None:
    """A completion does not look at owner and token."""
    given = r"(json_extract\([^)]*\)|%\(token\)s|:token|g\.\w+)"
    for hold in (SQLITE_HOLD, POSTGRESQL_HOLD):
        for statements in (hold.complete_one, hold.complete_same, hold.complete):
            _changed(statements, rf"t\.state = 0 AND t\.owner = \S+ AND t\.token = {given}", "1 = 1")
    _alike.clear()  # they are decided as if their tokens differed


def _token() -> None:
    """A poll does not raise the token, on SQLite: PostgreSQL has it in a function."""
    _changed(SQLITE_CLAIM.poll, r"token = token \+ 1", "token = token")


def _polling(**others: object) -> Callable[[], None]:
    """A poll does not do as it is told."""

    def act() -> None:
        poll = _Source.poll_many
        _Source.poll_many = lambda *arguments, **options: poll(*arguments, **{**options, **others})

    return act


def _apart() -> None:
    """Effects are written in another transaction than the decision."""
    write = tables.write_ledger
    waiting: queue.Queue[tuple[Connection, Sequence[tuple[Any, ...]]]] = queue.Queue()

    def go_on() -> None:
        while True:
            tx, rows = waiting.get()
            with tx.engine.begin() as other:
                write(other, rows)

    threading.Thread(target=go_on, daemon=True).start()
    _tables.write_ledger = lambda tx, rows: waiting.put((tx, rows))


def _forget() -> None:
    """Every tenth batch is decided without its effects."""
    write, numbers = tables.write_ledger, count(1)
    _tables.write_ledger = lambda tx, rows: write(tx, rows) if next(numbers) % 10 else None


def _early() -> None:
    """A producer takes a push for committed before it is."""
    _Producer.before_commit = lambda self, _tx, batch: self.diary.note("commit", batch, self.noted)
    producer.ROLLED_BACK = 0.5


def _committed() -> None:
    """A rollback comes too late."""
    _Producer.before_commit = lambda _self, tx, _batch: tx.connection.driver_connection.commit()
    producer.ROLLED_BACK = 0.5


def _retire() -> None:
    """A push that replaces leaves older tasks as they are."""
    _Sink._retire = lambda *_: None  # noqa: SLF001 - to break it


def _unique() -> None:
    """A unique push appends."""
    push = _Sink.push_many
    broken = {Insertion.UNIQUE: Insertion.APPEND}
    _Sink.push_many = lambda *arguments, insertion=Insertion.APPEND: push(
        *arguments, insertion=broken.get(insertion, insertion)
    )


def _dependency() -> None:
    """What a task is to wait for is forgotten."""
    push = _Sink.push_many
    _Sink.push_many = lambda self, tx, topic, creations, **options: push(
        self, tx, topic, [replace(creation, after=()) for creation in creations], **options
    )


def _junction() -> None:
    """A junction releases whoever has come."""
    junction = _Juncture.junction
    _Juncture.junction = lambda self, tx, topic, groups, **options: junction(
        self, tx, topic, [[member] for group in groups for member in group], **options
    )


def _promote() -> None:
    """What is due stays where it is."""
    _Source.promote = lambda *_: 0


def _crash() -> None:
    """Work ends its process, once."""
    write, mark = tables.write_ledger, Path("crashed")

    def crashing(tx: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        if not mark.exists():
            mark.touch()
            os._exit(3)
        write(tx, rows)

    _tables.write_ledger = crashing


def _leak(statement: str, *, autocommit: bool) -> Callable[[], None]:
    """A session is left with something open."""

    def act() -> None:
        kept: list[Connection] = []
        write = tables.write_ledger

        def leaking(tx: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
            if not kept:
                level = "AUTOCOMMIT" if autocommit else "READ COMMITTED"
                kept.append(tx.engine.connect().execution_options(isolation_level=level))
                kept[0].exec_driver_sql(statement)
            write(tx, rows)

        _tables.write_ledger = leaking

    return act


_WORKER, _PRODUCER = ("worker",), ("producer",)
SABOTAGES = {
    "early": Sabotage(_PRODUCER, "nothing lost", _early),
    "committed": Sabotage(_PRODUCER, "nothing from nowhere", _committed),
    "token": Sabotage(_WORKER, "counts agree", _token),
    "promote": Sabotage(_WORKER, "nothing undecided", _promote),
    "fence": Sabotage(_WORKER, "nothing decided twice", _fence),
    "apart": Sabotage(_WORKER, "no effect without its decision", _apart),
    "forget": Sabotage(_WORKER, "no decision without its effect", _forget),
    "reverse": Sabotage(_WORKER, "order", _polling(order=Order.LAST_IN_FIRST_OUT)),
    "siblings": Sabotage(_WORKER, "singular", _polling(condition=Condition.NONE)),
    "retire": Sabotage(_PRODUCER, "replacing", _retire),
    "unique": Sabotage(_PRODUCER, "unique", _unique),
    "junction": Sabotage(_WORKER, "junctions", _junction),
    "dependency": Sabotage(_PRODUCER, "dependencies", _dependency),
    "crash": Sabotage(_WORKER, "all members ended well", _crash),
    "session": Sabotage(_WORKER, "no session left in a transaction", _leak("SELECT 1", autocommit=False)),
    "lock": Sabotage(_WORKER, "no lock left", _leak("SELECT pg_try_advisory_lock(7)", autocommit=True)),
}
"""All of them by name."""


def apply(name: str, kind: str) -> None:
    """Break what is to be broken in this kind of process."""
    if kind in SABOTAGES[name].kinds:
        SABOTAGES[name].act()

"""SQLite: the embedded database. One writer at a time, so that a write transaction is alone."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import count
from typing import ClassVar, Final

from task_api import Claim, SchemaError

from ..dialect import Decided, Dialect, Poll
from ..schema.layout import Layout
from ..statements import Statements
from ..transaction import Parameters, Row, Transaction
from . import times
from .claim import CLAIM, CLAIMS, CLAIMS_BEGIN, CLAIMS_BEGUN, CLAIMS_FORGET, CLAIMS_NOTE, POLL_BESIDE
from .hold import HOLD
from .listing import LIST
from .owner import OWNER
from .push import DRAW, PUSH
from .revive import REVIVE
from .topic import TOPIC

__all__ = ["SqliteDialect"]

_OLDEST: Final = (3, 35, 0)
_ERAS: Final = count(1)
_BECOME_WRITER: Final = "UPDATE task_owner SET heartbeat = heartbeat WHERE false"
"""Changes nothing, but waits for the write lock: a deferred transaction that has read first might not get it."""
_LEGACY: Final = -1
"""What Python 3.12's sqlite3.Connection.autocommit says when transactions are left to isolation_level."""


class SqliteDialect(Dialect):
    """SQLite through the standard library's sqlite3, or aiosqlite."""

    name = "sqlite"
    statements: ClassVar[Statements] = Statements(PUSH, CLAIM, HOLD, REVIVE, OWNER, TOPIC, LIST)
    _eras: ClassVar[dict[int, int]] = {}
    """The era of each connection of this process that has ever claimed tasks for its transaction."""

    def __init__(self) -> None:
        super().__init__()
        if sqlite3.sqlite_version_info < _OLDEST:
            needed = ".".join(map(str, _OLDEST))
            message = f"SQLite {needed} or newer is needed, this Python has {sqlite3.sqlite_version}"
            raise SchemaError(message)

    def layout(self, tx: Transaction) -> Layout | None:
        try:
            [(version,)] = tx.rows("SELECT version FROM task_schema")
        except SchemaError:
            return None
        return Layout(version, partitioned=False, notify=False)

    def translate(self, error: Exception) -> Exception | None:
        if isinstance(error, sqlite3.OperationalError) and str(error).startswith("no such table: task"):
            return SchemaError(f"the database has no topiq schema, or only a part of it: {error}")
        return None

    def autocommit(self, tx: Transaction) -> bool:
        driver = tx.driver
        if driver.in_transaction:
            return False
        mode = getattr(driver, "autocommit", _LEGACY)
        return driver.isolation_level is None if mode == _LEGACY else bool(mode)

    @contextmanager
    def unit(self, tx: Transaction) -> Iterator[None]:
        if tx.driver.in_transaction:
            tx.run(_BECOME_WRITER)
            yield
        else:
            with self.migrating(tx):
                yield

    @contextmanager
    def migrating(self, tx: Transaction) -> Iterator[None]:
        if tx.driver.in_transaction:
            yield
            return
        own = self.autocommit(tx)
        tx.run("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if own:
                tx.run("ROLLBACK")
            raise
        if own:
            tx.run("COMMIT")

    def table(self, **columns: Sequence[object]) -> dict[str, object]:
        values: object = list(zip(*columns.values(), strict=True))
        if len(columns) == 1:
            [values] = columns.values()
        return {"given": json.dumps(values, ensure_ascii=False)}

    def decisions(
        self, sequences: Sequence[int], tokens: Sequence[int], decided: Sequence[Decided]
    ) -> dict[str, object]:
        given = zip(sequences, tokens, decided, strict=True)
        rows = [(sequence, token, *decision) for sequence, token, decision in given]
        return {"given": json.dumps(rows, ensure_ascii=False)}

    def moment(self, value: datetime | None) -> str | None:
        return times.text(value)

    def span(self, value: timedelta | None) -> str | None:
        return times.modifier(value)

    def read_moment(self, value: object) -> datetime | None:
        return times.parse(value)

    def insert(self, tx: Transaction, layout: Layout, topic: str, rows: Sequence[Row]) -> list[int]:  # noqa: ARG002
        drawn = tx.rows(DRAW, {"topic": topic, "number": len(rows)})
        if not drawn:
            return []
        [(last, now)] = drawn
        sequences = list(range(last - len(rows) + 1, last + 1))
        tx.run_many(
            self.statements.push.many,
            [(topic, now, sequence, *row) for sequence, row in zip(sequences, rows, strict=True)],
        )
        return sequences

    def copy(self, tx: Transaction, parameters: Parameters, number: int) -> dict[int, int]:
        [(last, _)] = tx.rows(DRAW, {"topic": parameters["topic"], "number": number})
        return dict(tx.rows(self.statements.push.copy, {**parameters, "first": last - number + 1}))

    def serialize(self, tx: Transaction, topic: str, identifiers: Sequence[str], salt: int) -> None:
        """Do nothing: a write transaction is alone."""

    def claim(self, tx: Transaction, poll: Poll) -> list[Row]:
        parameters = {
            "topic": poll.topic,
            "owner": poll.owner,
            "size": poll.size,
            "lease": self.span(poll.lease),
        }
        if poll.claim is Claim.TRANSACTION:
            return self._claim_for_transaction(tx, poll, parameters)
        if id(tx.driver) in self._eras and tx.rows(CLAIMS_BEGUN) != [(0,)]:
            self.recall(tx)
            return tx.rows(POLL_BESIDE[poll.order, poll.condition], parameters)
        return tx.rows(self.statements.claim.poll[poll.order, poll.condition, poll.claim], parameters)

    def _claim_for_transaction(self, tx: Transaction, poll: Poll, parameters: Parameters) -> list[Row]:
        with self.unit(tx):
            self.recall(tx)
            statement = self.statements.claim.poll[poll.order, poll.condition, poll.claim]
            rows = tx.rows(statement, parameters)
            era = SqliteDialect._eras[id(tx.driver)]
            notes = [(era, poll.topic, poll.owner, row[0], row[1], row[4]) for row in rows]
            tx.run_many(CLAIMS_NOTE, notes)
            return rows

    def recall(self, tx: Transaction) -> None:
        tx.run(CLAIMS)
        connection = id(tx.driver)
        if tx.rows(CLAIMS_BEGUN) == [(0,)] or connection not in SqliteDialect._eras:
            SqliteDialect._eras[connection] = next(_ERAS)
            tx.run(CLAIMS_BEGIN)
        tx.run(CLAIMS_FORGET, {"era": SqliteDialect._eras[connection]})

"""SQLite: the embedded database. One writer at a time, so that a write transaction is alone."""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import chain, count
from typing import ClassVar, Final, cast

from task_api import Claim, Condition, SchemaError, Task, TaskState

from ..dialect import Decided, Dialect, Poll, tasks_of
from ..schema.layout import Layout
from ..statements import Statements
from ..transaction import AlchemyTransaction, DriverTransaction, Parameters, Row, Transaction
from . import times
from .between import BETWEEN, POLL_BETWEEN_BESIDE
from .claim import CLAIM, CLAIMS, CLAIMS_BEGIN, CLAIMS_BEGUN, CLAIMS_CLEAR, CLAIMS_FORGET, CLAIMS_NOTE, POLL_BESIDE
from .dependency import ANY, DEPENDENCY
from .hold import HOLD
from .listed import ENTER, LOOK
from .listing import LIST
from .owner import OWNER
from .push import DRAW, PASSED, PUSH, PUSH_MANY, PUSH_PLAIN, PUSH_PLAIN_BEYOND, PUSH_PLAIN_MANY
from .revive import REVIVE
from .topic import TOPIC

__all__ = ["SqliteDialect"]

_OLDEST: Final = (3, 35, 0)
_ERAS: Final = count(1)
_COLUMNS: Final = "topic", "identifier", "input", "reference", "state", "due", "delay"
_BECOME_WRITER: Final = "UPDATE task_owner SET heartbeat = heartbeat WHERE false"
"""Changes nothing, but waits for the write lock: a deferred transaction that has read first might not get it."""
_LEGACY: Final = -1
"""What Python 3.12's sqlite3.Connection.autocommit says when transactions are left to isolation_level."""


class SqliteDialect(Dialect):
    """SQLite through the standard library's sqlite3, or aiosqlite."""

    name = "sqlite"
    statements: ClassVar[Statements] = Statements(PUSH, CLAIM, HOLD, REVIVE, OWNER, TOPIC, LIST, BETWEEN, DEPENDENCY)
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
            if own:
                tx.run("COMMIT")
        except BaseException:
            if own and tx.driver.in_transaction:  # which SQLite ends by itself if the disk is full
                tx.run("ROLLBACK")
            raise

    def table(self, **columns: Sequence[object]) -> dict[str, object]:
        values: object = list(zip(*columns.values(), strict=True))
        if len(columns) == 1:
            [values] = columns.values()
        return {"given": json.dumps(values, ensure_ascii=False)}

    def claims(self, sequences: Sequence[int], tokens: Sequence[int]) -> dict[str, object]:
        return {"given": json.dumps(dict(zip(sequences, tokens, strict=True)))}

    def decisions(
        self, sequences: Sequence[int], tokens: Sequence[int], decided: Sequence[Decided]
    ) -> dict[str, object]:
        given = zip(sequences, tokens, decided, strict=True)
        claims = {sequence: (token, *decision) for sequence, token, decision in given}
        return {"given": json.dumps(claims, ensure_ascii=False)}

    def moment(self, value: datetime | None) -> str | None:
        return times.text(value)

    def span(self, value: timedelta | None) -> str | None:
        return times.modifier(value)

    def read_moment(self, value: object) -> datetime | None:
        return times.parse(value)

    def insert_one(self, tx: Transaction, layout: Layout, topic: str, row: Row) -> int | None:  # noqa: ARG002
        transaction = cast("AlchemyTransaction | DriverTransaction", tx)
        # The driver knows the number that was given last: to have it returned costs more than all of Python here.
        return transaction.insert(self.statements.push.one, dict(zip(_COLUMNS, (topic, *row), strict=True)))

    def insert_plain_one(
        self,
        tx: Transaction,
        layout: Layout,  # noqa: ARG002
        topic: str,
        identifier: str,
        text: str | None,
    ) -> int | None:
        transaction = cast("AlchemyTransaction | DriverTransaction", tx)
        given = identifier, text, topic
        sequence = transaction.insert(PUSH_PLAIN, given)
        if sequence is None and (sequence := transaction.insert(PUSH_PLAIN_BEYOND, given)) is not None:
            transaction.run(PASSED)
        return sequence

    def insert(self, tx: Transaction, layout: Layout, topic: str, rows: Sequence[Row]) -> list[Task]:  # noqa: ARG002
        sequences, now, looked = self._draw(tx, topic, len(rows))
        if not sequences:
            return []
        identifiers, inputs, references, states, dues, delays = zip(*rows, strict=True)
        if any(dues) or any(delays):
            given = [
                # A time from now counts from when they are created.
                (topic, now, looked or row[3] != TaskState.READY, sequence, *row, now, delay)
                for sequence, (*row, delay) in zip(sequences, rows, strict=True)
            ]
            tx.run_many(self.statements.push.many, given)
        elif any(references) or set(states) != {TaskState.READY}:
            columns = sequences, identifiers, inputs, references, states
            self._insert_columns(tx, PUSH_MANY, (topic, now, looked), columns)
        else:
            self._insert_columns(tx, PUSH_PLAIN_MANY, (topic, now, looked), (sequences, identifiers, inputs))
        return tasks_of(sequences, identifiers, inputs)

    def insert_plain(
        self,
        tx: Transaction,
        layout: Layout,  # noqa: ARG002 - nothing is announced
        topic: str,
        identifiers: Sequence[str],
        inputs: Sequence[str | None],
    ) -> list[Task]:
        sequences, now, looked = self._draw(tx, topic, len(identifiers))
        if not sequences:
            return []
        self._insert_columns(tx, PUSH_PLAIN_MANY, (topic, now, looked), (sequences, identifiers, inputs))
        return tasks_of(sequences, identifiers, inputs)

    @staticmethod
    def _draw(tx: Transaction, topic: str, number: int) -> tuple[range, object, int]:
        """Draw numbers, none for an unknown topic; tell the time, and whether READY tasks are to be listed."""
        drawn = tx.rows(DRAW, {"topic": topic})
        [(first, now, looked)] = drawn or [(0, None, 0)]
        return (range(first, first + number) if drawn else range(0)), now, looked

    @staticmethod
    def _insert_columns(
        tx: Transaction, statements: Mapping[int, str], common: Row, columns: Sequence[Sequence[object]]
    ) -> None:
        """Insert rows by statements that take so many of them, in whole blocks as far as they go."""
        values = list(chain.from_iterable(zip(*columns, strict=True)))
        start = 0
        for number, statement in statements.items():
            step = number * len(columns)
            starts = range(start, len(values) - step + 1, step)
            tx.run_many(statement, [(*common, *values[place : place + step]) for place in starts])
            start += len(starts) * step

    def copy(self, tx: Transaction, parameters: Parameters, number: int) -> dict[int, int]:
        sequences, _, _ = self._draw(tx, cast("str", parameters["topic"]), number)
        return dict(tx.rows(self.statements.push.copy, {**parameters, "first": sequences[0]}))

    def serialize(
        self,
        tx: Transaction,
        topic: str,
        identifiers: Sequence[str],  # noqa: ARG002 - a writer is alone with all of them
        salt: int,  # noqa: ARG002
    ) -> None:
        """See to it that tasks are found by their identifiers; a write transaction is alone anyway."""
        self._list(tx, topic)

    def awaited(self, tx: Transaction, sequences: Collection[int]) -> list[int]:
        return super().awaited(tx, sequences) if tx.rows(ANY) else []

    def claim(self, tx: Transaction, layout: Layout, poll: Poll) -> list[Row]:  # noqa: ARG002
        statement = self.statements.claim.poll[poll.order, poll.condition, poll.claim]
        beside = POLL_BESIDE[poll.order, poll.condition]
        if poll.condition is Condition.NONE:
            return self._claim(tx, poll, statement, beside, {})
        with self.unit(tx):
            self._list(tx, poll.topic)
            return self._claim(tx, poll, statement, beside, {})

    def claim_between(self, tx: Transaction, poll: Poll, low: str, high: str) -> list[Row]:
        statement = self.statements.between.poll[poll.claim]
        with self.unit(tx):
            self._list(tx, poll.topic)
            return self._claim(tx, poll, statement, POLL_BETWEEN_BESIDE, {"low": low, "high": high})

    def _claim(self, tx: Transaction, poll: Poll, statement: str, beside: str, more: Parameters) -> list[Row]:
        parameters = {
            "topic": poll.topic,
            "owner": poll.owner,
            "size": poll.size,
            "lease": self.span(poll.lease),
            **more,
        }
        if poll.claim is Claim.TRANSACTION:
            return self._claim_for_transaction(tx, poll, statement, parameters)
        if id(tx.driver) in self._eras and tx.rows(CLAIMS_BEGUN) != [(0,)]:
            self.recall(tx)
            return tx.rows(beside, parameters)
        return tx.rows(statement, parameters)

    def _claim_for_transaction(self, tx: Transaction, poll: Poll, statement: str, parameters: Parameters) -> list[Row]:
        with self.unit(tx):
            self.recall(tx)
            rows = tx.rows(statement, parameters)
            era = SqliteDialect._eras[id(tx.driver)]
            given = self.table(sequences=[row[0] for row in rows])
            tx.run(CLAIMS_NOTE, {"era": era, "topic": poll.topic, "owner": poll.owner, **given})
            return rows

    @staticmethod
    def _list(tx: Transaction, topic: str) -> None:
        """See to it that all READY tasks are found by their identifiers, in a transaction that writes."""
        if tx.run(LOOK, {"topic": topic}):
            tx.run(ENTER, {"topic": topic})

    def recall(self, tx: Transaction) -> None:
        tx.run(CLAIMS)
        connection = id(tx.driver)
        if tx.rows(CLAIMS_BEGUN) == [(0,)] or connection not in SqliteDialect._eras:
            SqliteDialect._eras[connection] = next(_ERAS)
            tx.run(CLAIMS_BEGIN)
            tx.run(CLAIMS_CLEAR)  # all at once, which costs less than those of other eras
        else:
            tx.run(CLAIMS_FORGET, {"era": SqliteDialect._eras[connection]})

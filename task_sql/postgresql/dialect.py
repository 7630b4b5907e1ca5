"""PostgreSQL, through psycopg."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final, cast

from task_api import AccessError, Condition, InvalidTaskError, Order, SchemaError, Task, TaskRef, TaskState

from ..dialect import Decided, Dialect, Poll, tasks_of
from ..refs import by_topic
from ..schema.layout import Layout
from ..statements import Statements
from ..transaction import Parameters, Row, Transaction
from .backlog import Backlog
from .between import BETWEEN
from .claim import CANDIDATES, CANDIDATES_AMONG, CANDIDATES_BEYOND, CLAIM, CLAIM_CANDIDATES
from .dependency import ANNOUNCE, DEPENDENCY, LOOK, MARK, SHARE
from .head import Head
from .hold import HOLD, ISOLATION
from .listing import LIST
from .owner import OWNER
from .push import COPY, COPY_ALL, DRAW, PUSH, PUSH_PLAIN, SERIALIZE
from .revive import REVIVE
from .texts import array, copied
from .topic import TOPIC

__all__ = ["PostgresDialect"]

_UNDEFINED: Final = frozenset({"42P01", "42703", "42883"})
"""The SQLSTATEs of a missing table, column or function."""
_REFUSED: Final = "42501"
"""The SQLSTATE of what the user may not do."""
_LAYOUT: Final = """
SELECT
    version, partitioned, notify,
    (SELECT CAST(oid AS bigint) FROM pg_database WHERE datname = current_database()),
    CAST(CAST(CAST('task' AS regclass) AS oid) AS bigint),
    installed
FROM task_schema
"""
"""How the schema was installed, and what tells it from others."""
_MIGRATION_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended('topiq schema', 0))"
_AMONG_TABLES: Final = """
SELECT set_config('search_path', concat_ws(
    ', ', CAST(relnamespace AS regnamespace), nullif(current_setting('search_path'), '')), true)
FROM pg_class WHERE oid = CAST('task' AS regclass)
"""
_ROUNDS: Final = 8
"""How often a SINGULAR poll looks for more, where others were faster."""
_MOST: Final = 2**31
"""For so many tasks a SINGULAR poll asks at once at most: twice as many are still a number to the server."""
_SINGLE: Final = 500
"""How many identifiers of a poll are locked singly."""
_READY: Final = int(TaskState.READY)
_COLUMNS: Final = "identifiers", "inputs", "references", "states", "dues", "delays"
_COPIED: Final = 100
"""From so many tasks on, a push is a stream of rows."""
_FRESH_SNAPSHOTS: Final = frozenset({"read committed", "read uncommitted"})


class PostgresDialect(Dialect):
    """PostgreSQL through psycopg, alone or under SQLAlchemy."""

    name = "postgresql"
    statements: ClassVar[Statements] = Statements(PUSH, CLAIM, HOLD, REVIVE, OWNER, TOPIC, LIST, BETWEEN, DEPENDENCY)
    partitions = True

    def __init__(self) -> None:
        super().__init__()
        self._heads: defaultdict[tuple[object, str], Head] = defaultdict(Head)

    def layout(self, tx: Transaction) -> Layout | None:
        [(present,)] = tx.rows("SELECT to_regclass('task_schema') IS NOT NULL")
        if not present:
            return None
        [(version, partitioned, notify, *identity)] = tx.rows(_LAYOUT)
        return Layout(version, partitioned, notify, tuple(identity))

    def translate(self, error: Exception) -> Exception | None:
        code = getattr(error, "sqlstate", None)
        if code in _UNDEFINED:
            return SchemaError(f"the topiq schema is missing or of another version: {_said(error)}")
        if code == _REFUSED:
            return AccessError(f"the database user may not do this: {_said(error)}")
        return None

    def autocommit(self, tx: Transaction) -> bool:
        driver = tx.driver
        return bool(driver.autocommit and driver.info.transaction_status == 0)

    @contextmanager
    def unit(self, tx: Transaction) -> Iterator[None]:
        if not self.autocommit(tx):
            yield
            return
        tx.run("BEGIN")
        try:
            yield
        except BaseException:
            tx.run("ROLLBACK")
            raise
        tx.run("COMMIT")

    @contextmanager
    def migrating(self, tx: Transaction) -> Iterator[None]:
        with self.unit(tx):
            tx.run(_MIGRATION_LOCK)
            yield

    @contextmanager
    def among_tables(self, tx: Transaction) -> Iterator[None]:
        [(path,)] = tx.rows("SELECT current_setting('search_path')")
        tx.run(_AMONG_TABLES)
        yield
        tx.run("SELECT set_config('search_path', %(path)s, true)", {"path": path})

    def table(self, **columns: Sequence[object]) -> dict[str, object]:
        return {name: array(values) for name, values in columns.items()}

    def decisions(
        self, sequences: Sequence[int], tokens: Sequence[int], decided: Sequence[Decided]
    ) -> dict[str, object]:
        by_sequence = dict(zip(sequences, decided, strict=True))
        return {
            "sequences": array(sequences),
            "tokens": array(tokens),
            "decisions": json.dumps(by_sequence, ensure_ascii=False, default=_as_text),
        }

    def moment(self, value: datetime | None) -> datetime | None:
        return value

    def span(self, value: timedelta | None) -> timedelta | None:
        return value

    def read_moment(self, value: object) -> datetime | None:
        return value.astimezone(UTC) if isinstance(value, datetime) else None

    def insert_plain_one(
        self, tx: Transaction, layout: Layout, topic: str, identifier: str, text: str | None
    ) -> int | None:
        # Each parameter costs the driver a microsecond.
        given = {"topic": topic, "identifier": identifier, "input": text, "notify": layout.notify}
        [(sequence,)] = tx.rows(PUSH_PLAIN, given)
        return cast("int | None", sequence)

    def insert(self, tx: Transaction, layout: Layout, topic: str, rows: Sequence[Row]) -> list[Task]:
        if len(rows) >= _COPIED and self._copies(tx) and all(row[4] is row[5] is None for row in rows):
            identifiers, inputs, references, states, _, _ = zip(*rows, strict=True)
            return self._copy_in(tx, layout, topic, identifiers, inputs, references, tuple(map(str, states)))
        columns = list(zip(*rows, strict=True))
        parameters = {
            "topic": topic,
            **dict(zip(_COLUMNS, map(array, columns), strict=True)),
            "notify": layout.notify and _READY in columns[3],
        }
        # Numbers are drawn in the order of the rows, so that sorting brings that order back.
        sequences = sorted(row[0] for row in tx.rows(self.statements.push.many, parameters))
        return tasks_of(sequences, columns[0], columns[1]) if sequences else []

    def insert_plain(
        self, tx: Transaction, layout: Layout, topic: str, identifiers: Sequence[str], inputs: Sequence[str | None]
    ) -> list[Task]:
        if len(identifiers) >= _COPIED and self._copies(tx):
            return self._copy_in(tx, layout, topic, identifiers, inputs)
        return super().insert_plain(tx, layout, topic, identifiers, inputs)

    @staticmethod
    def _copies(tx: Transaction) -> bool:
        """Tell whether the driver's connection can be written to from here, unlike an async one, and takes any text."""
        import psycopg

        return isinstance(tx.driver, psycopg.Connection) and tx.driver.info.encoding == "utf-8"

    def _copy_in(
        self, tx: Transaction, layout: Layout, topic: str, identifiers: Sequence[str], *more: Sequence[str | None]
    ) -> list[Task]:
        """Insert tasks without a due time as a stream: identifiers, inputs, and references and states if need be."""
        import psycopg

        inputs, *special = more
        notify = layout.notify and (not special or str(_READY) in special[1])
        [(first, last, drawn, _)] = tx.rows(DRAW, {"topic": topic, "number": len(identifiers), "notify": notify})
        if first is None:
            return []
        numbers: Sequence[int] = drawn or range(first, last + 1)
        try:
            with psycopg.Cursor(tx.driver).copy(COPY_ALL if special else COPY) as stream:
                for block in copied(topic, numbers, (identifiers, *more)):
                    stream.write(block)
                tasks = tasks_of(numbers, identifiers, inputs)  # while the server is busy with what was written
        except psycopg.Error as error:
            if known := self.translate(error):
                raise known from error
            tx.failed(error)
            raise
        return tasks

    def copy(self, tx: Transaction, parameters: Parameters, number: int) -> dict[int, int]:  # noqa: ARG002
        return {origin: sequence for origin, sequence, _ in tx.rows(self.statements.push.copy, parameters)}

    def serialize(self, tx: Transaction, topic: str, identifiers: Sequence[str], salt: int) -> None:
        parameters = {"topic": topic, "identifiers": array(identifiers), "salt": salt}
        [(isolation,)] = tx.rows(SERIALIZE, parameters)
        _require_fresh_snapshots(isolation)

    def decide(
        self,
        tx: Transaction,
        statement: str,
        parameters: Parameters,
        sequences: Collection[int],
    ) -> tuple[int, list[int]]:
        rows = tx.rows(statement, parameters)
        if not rows:
            return 0, []
        [(number, awaited)] = rows
        return number, sorted(set(awaited).intersection(sequences)) if awaited else []

    def watch(
        self,
        tx: Transaction,
        layout: Layout,
        afters: Collection[TaskRef],
        links: Collection[tuple[TaskRef, TaskRef]] = (),
    ) -> dict[TaskRef, Row]:
        for topic, sequences in by_topic(afters).items():
            given = {"topic": topic, "notify": layout.notify, **self.table(sequences=sequences)}
            [(isolation, _)] = tx.rows(MARK, given)
            _require_fresh_snapshots(isolation)
        self.rows_of(tx, SHARE, afters)
        return self.rows_of(tx, LOOK, afters) | self.locked(tx, {run for run, _ in links})

    def announce(self, tx: Transaction, topic: str, layout: Layout) -> None:
        [(isolation, _)] = tx.rows(ANNOUNCE, {"topic": topic, "notify": layout.notify})
        _require_fresh_snapshots(isolation)

    def refused(self, tx: Transaction) -> None:
        [(isolation,)] = tx.rows(ISOLATION)
        _require_fresh_snapshots(isolation)

    def claim(self, tx: Transaction, layout: Layout, poll: Poll) -> list[Row]:
        head = self._heads[layout.identity, poll.topic]
        if poll.condition is Condition.NONE:
            return self._claim_any(tx, poll, head)
        if poll.order is Order.LAST_IN_FIRST_OUT:
            return self._claim_among(tx, poll, 0, None)
        head.advance(tx, poll.topic)
        start = head.floor.sequence
        rows = self._claim_among(tx, poll, start, head.backlog)
        if not rows and head.outdated(tx):
            start = 0
            rows = self._claim_among(tx, poll, start, None)
        if rows:
            head.passed(start, rows, poll.size, singular=True)
        return rows

    def _claim_any(self, tx: Transaction, poll: Poll, head: Head) -> list[Row]:
        """Claim tasks without a condition, and look how far the consumers have come in the same round trip."""
        statement = self.statements.claim.poll[poll.order, poll.condition, poll.claim]
        given = {**_parameters(poll, 0), "look": False}
        if poll.order is Order.LAST_IN_FIRST_OUT:
            return tx.rows(statement, given)
        look, start = head.floor.due(), head.floor.sequence
        if look is None:
            rows = tx.rows(statement, {**given, "floor": start})
        else:
            [found, *rows] = tx.rows(statement, {**given, "floor": look.start, "look": True})
            head.floor.learn(look, *json.loads(found[2]))
        if not rows and head.outdated(tx):
            start = 0
            rows = tx.rows(statement, given)
        if rows:
            head.passed(start, rows, poll.size, singular=False)
        return rows

    def _claim_among(self, tx: Transaction, poll: Poll, floor: int, backlog: Backlog | None) -> list[Row]:
        """Claim tasks under a SINGULAR condition."""
        finds: list[tuple[str, Parameters]] = [(CANDIDATES[poll.order, poll.condition], {})]
        bound, identifiers = backlog.known if backlog else (0, ())
        if identifiers:
            beyond = {"bound": bound}
            among = {"bound": bound, "identifiers": array(identifiers)}
            finds = [(CANDIDATES_AMONG[poll.condition], among), (CANDIDATES_BEYOND[poll.condition], beyond)]
        with self.unit(tx):
            return self._claim_singular(tx, poll, _parameters(poll, floor), finds)

    def _claim_singular(
        self, tx: Transaction, poll: Poll, parameters: Parameters, finds: Sequence[tuple[str, Parameters]]
    ) -> list[Row]:
        take = CLAIM_CANDIDATES[poll.order, poll.condition, poll.claim]
        claimed: list[Row] = []
        for find, more in finds:
            again = False
            for _ in range(_ROUNDS):
                single = len(claimed) < _SINGLE
                wanted = min(poll.size, _SINGLE if single else _MOST) - len(claimed)
                given = {**parameters, **more, "single": single, "again": again, "size": wanted}
                candidates = tx.rows(find, given)
                if not candidates:
                    break
                _require_fresh_snapshots(candidates[0][1])
                sequences = [sequence for sequence, _ in candidates]
                rows = tx.rows(take, {**parameters, "sequences": array(sequences)})
                claimed += rows
                if len(claimed) == poll.size:
                    return claimed
                if len(candidates) < wanted:
                    break
                again = again or len(rows) < len(candidates)
        return claimed


def _parameters(poll: Poll, floor: int) -> dict[str, object]:
    return {"topic": poll.topic, "owner": poll.owner, "size": poll.size, "lease": poll.lease, "floor": floor}


def _said(error: Exception) -> str:
    """What the server said, without the statement and the function in which it said so."""
    return getattr(getattr(error, "diag", None), "message_primary", None) or str(error)


def _as_text(value: object) -> str:
    """Write a due time as PostgreSQL reads it."""
    return value.isoformat() if isinstance(value, datetime) else f"{cast('timedelta', value).total_seconds():f} seconds"


def _require_fresh_snapshots(isolation: str) -> None:
    if isolation not in _FRESH_SNAPSHOTS:
        message = (
            "SINGULAR conditions, junctions, pushes that replace others, and tasks that others wait for need READ"
            f" COMMITTED, where a statement sees what was committed before it began; this one is {isolation.upper()}"
        )
        raise InvalidTaskError(message)

"""Oracle, through python-oracledb."""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import ClassVar, Final, cast

from task_api import AccessError, Condition, SchemaError, Task, TaskRef

from ..dialect import Decided, Dialect, Poll, tasks_of
from ..schema.layout import VERSION, Layout
from ..statements import Statements
from ..transaction import Parameters, Row, Transaction, adapt
from .between import BETWEEN
from .claim import CANDIDATES, CLAIM, CLAIM_CANDIDATES, SLOTS, TRY_SLOTS
from .dependency import DEPENDENCY, SUSPENDED
from .hold import HOLD
from .listing import LIST
from .owner import OWNER
from .push import DRAW, LOCK, PUSH, UNLOCK
from .revive import REVIVE
from .topic import ALONE, TOPIC
from .transaction import OracleTransaction, code_of

__all__ = ["LAYOUT", "OPTION", "OracleDialect"]

_UNDEFINED: Final = frozenset({904, 942, 2289})
"""A missing column, table or sequence."""
_REFUSED: Final = frozenset({1031, 41900})
"""What the user may not do, though it may do something else to the table."""
_TAKEN: Final = 955
"""A name that is used already."""
_NO_OPTION: Final = 439
_PATIENCE: Final = 60.0
_PASSING: Final = 5.0
_PAUSE: Final = 0.1
OPTION: Final = "SELECT value FROM v$option WHERE parameter = 'Partitioning'"
LAYOUT: Final = "SELECT version, partitioned, notify FROM task_schema"


class OracleDialect(Dialect):
    """Oracle 19c or newer through python-oracledb, alone or under SQLAlchemy."""

    name = "oracle"
    statements: ClassVar[Statements] = Statements(PUSH, CLAIM, HOLD, REVIVE, OWNER, TOPIC, LIST, BETWEEN, DEPENDENCY)
    partitions = True

    def adapt(self, tx: object) -> OracleTransaction:
        transaction = adapt(self.name, tx, self.translate)
        return OracleTransaction(transaction.driver, transaction.home, self.translate, transaction.failed)

    def layout(self, tx: Transaction) -> Layout | None:
        try:
            rows = tx.rows(LAYOUT)
        except SchemaError:
            return None
        if not rows:  # an installation that has begun and not ended
            return None
        [(version, partitioned, notify)] = rows
        return Layout(version, bool(partitioned), bool(notify))

    def installed(self, tx: Transaction) -> Layout | None:
        # Every statement on a schema commits, so that others see the versions that an installation passes through.
        deadline = time.monotonic() + _PASSING
        while (layout := self.layout(tx)) and layout.version < VERSION and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        return layout

    def translate(self, error: Exception) -> Exception | None:
        code = code_of(error)
        if code in _UNDEFINED:
            return SchemaError(f"the topiq schema is missing or of another version: {error}")
        if code in _REFUSED:
            return AccessError(f"the database user may not do this: {error}")
        if code == _NO_OPTION:
            return SchemaError(f"this database can't partition, install the schema with partitioned=False: {error}")
        return None

    def autocommit(self, tx: Transaction) -> bool:
        return cast("OracleTransaction", tx).autocommit

    @contextmanager
    def unit(self, tx: Transaction) -> Iterator[None]:
        with cast("OracleTransaction", tx).unit():
            yield

    @contextmanager
    def migrating(self, tx: Transaction) -> Iterator[None]:  # noqa: ARG002 - every statement on a schema commits
        yield

    def can_partition(self, tx: Transaction) -> bool:
        try:
            return tx.rows(OPTION) != [("FALSE",)]
        except SchemaError:  # not for this user to know; an installation will tell
            return True

    def migrate(self, tx: Transaction, script: Iterable[str]) -> None:
        for statement in script:
            try:
                tx.run(statement)
            except SchemaError:
                if not statement.startswith("DROP"):
                    raise
            except Exception as error:
                if code_of(getattr(error, "orig", error)) != _TAKEN or not statement.startswith("CREATE TABLE"):
                    raise
                self._wait(tx)
                return

    def _wait(self, tx: Transaction) -> None:
        """Wait for somebody else who installs or upgrades the schema at this moment."""
        deadline = time.monotonic() + _PATIENCE
        while (layout := self.layout(tx)) is None or layout.version < VERSION:
            if time.monotonic() > deadline:
                message = "an installation has begun and not ended; use schema.uninstall, then schema.install again"
                raise SchemaError(message)
            time.sleep(_PAUSE)

    def table(self, **columns: Sequence[object]) -> dict[str, object]:
        return {name.removesuffix("s"): list(values) for name, values in columns.items()}

    def watch(
        self,
        tx: Transaction,
        layout: Layout,  # noqa: ARG002
        afters: Collection[TaskRef],
        links: Collection[tuple[TaskRef, TaskRef]] = (),
    ) -> dict[TaskRef, Row]:
        # A row is locked or not. Whoever decides tasks has them before he asks for those who wait, so the waiting come
        # last here too; which they are may have changed with each wait for others.
        left = {*afters, *(run for run, _ in links)}
        known: dict[TaskRef, Row] = {}
        while left:
            waiting = self.rows_of(tx, SUSPENDED, left).keys() if len(left) > 1 else set[TaskRef]()
            step = left - waiting or left
            known |= self.locked(tx, step)
            left -= step
        return known

    def decisions(
        self, sequences: Sequence[int], tokens: Sequence[int], decided: Sequence[Decided]
    ) -> dict[str, object]:
        states, outputs, dues, delays = map(list, zip(*decided, strict=True))
        return {
            "sequence": list(sequences),
            "token": list(tokens),
            "state": states,
            "output": outputs,
            "due": dues,
            "delay": delays,
        }

    def moment(self, value: datetime | None) -> str | None:
        if value is None:
            return None
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")

    def span(self, value: timedelta | None) -> float | None:
        return None if value is None else value.total_seconds()

    def read_moment(self, value: object) -> datetime | None:
        return value.replace(tzinfo=UTC) if isinstance(value, datetime) else None

    def initialize(self, tx: Transaction, topic: str) -> bool:
        if tx.rows(self.statements.topic.known, {"topic": topic}):
            return False
        with self.unit(tx):
            tx.run(ALONE)
            return tx.run(self.statements.topic.initialize, {"topic": topic}) == 1

    def insert_one(self, tx: Transaction, layout: Layout, topic: str, row: Row) -> int | None:
        tasks = self.insert(tx, layout, topic, [row])
        return tasks[0].sequence if tasks else None

    def insert(self, tx: Transaction, layout: Layout, topic: str, rows: Sequence[Row]) -> list[Task]:  # noqa: ARG002
        if not tx.rows(self.statements.topic.known, {"topic": topic}):
            return []
        names = ("identifier", "input", "reference", "state", "due", "delay")
        records = [{"topic": topic, **dict(zip(names, row, strict=True))} for row in rows]
        sequences = cast("OracleTransaction", tx).insert(self.statements.push.many, records)
        return tasks_of(sequences, [row[0] for row in rows], [row[1] for row in rows])

    def copy(self, tx: Transaction, parameters: Parameters, number: int) -> dict[int, int]:  # noqa: ARG002
        originals = cast("list[int]", parameters["sequence"])
        drawn = sorted(number for (number,) in tx.rows(DRAW, {"sequence": originals}))
        tx.run(self.statements.push.copy, {**parameters, "drawn": drawn})
        return dict(zip(originals, drawn, strict=True))

    def serialize(self, tx: Transaction, topic: str, identifiers: Sequence[str], salt: int) -> None:
        keys = sorted({_hash(topic, identifier, salt) for identifier in identifiers})
        if keys:
            tx.run(LOCK, {"hash": keys})
            tx.run(UNLOCK, {"hash": keys})

    def claim(self, tx: Transaction, layout: Layout, poll: Poll) -> list[Row]:  # noqa: ARG002
        parameters = {
            "topic": poll.topic,
            "owner": poll.owner,
            "size": poll.size,
            "lease": self.span(poll.lease),
        }
        if poll.condition is Condition.NONE:
            return tx.rows(self.statements.claim.poll[poll.order, poll.condition, poll.claim], parameters)
        with self.unit(tx):
            return self._claim_singular(cast("OracleTransaction", tx), poll, parameters)

    def _claim_singular(self, tx: OracleTransaction, poll: Poll, parameters: Parameters) -> list[Row]:
        take = CLAIM_CANDIDATES[poll.order, poll.condition, poll.claim]
        claimed: list[Row] = []
        tried: set[int] = set()
        while wanted := poll.size - len(claimed):
            candidates = self._candidates(tx, poll, parameters, wanted, tried)
            if not candidates:
                break
            claimed += tx.rows(take, {**parameters, "size": None, "sequence": candidates})
            tried.update(candidates)
        return claimed

    def _candidates(
        self, tx: OracleTransaction, poll: Poll, parameters: Parameters, wanted: int, tried: Collection[int]
    ) -> list[int]:
        """Find tasks whose identifiers nobody else is about to claim, and keep it so; not those that were locked."""
        candidates: list[int] = []
        with tx.reading(CANDIDATES[poll.order, poll.condition], parameters, wanted) as fetch:
            while len(candidates) < wanted and (rows := fetch(wanted - len(candidates))):
                slots = {
                    sequence: _hash(poll.topic, identifier) % SLOTS
                    for sequence, identifier in rows
                    if sequence not in tried
                }
                locked = {slot for (slot,) in tx.rows(TRY_SLOTS, {"slot": sorted(set(slots.values()))})}
                candidates += [sequence for sequence, slot in slots.items() if slot in locked]
        return candidates


def _hash(topic: str, identifier: str, salt: int = 0) -> int:
    """Return a number for an identifier of a topic, to lock by."""
    digest = blake2b(identifier.encode(), digest_size=8, key=blake2b(topic.encode()).digest(), salt=bytes([salt]))
    return int.from_bytes(digest.digest()) >> 1

"""What the one algorithm needs from a database besides its statements."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import ClassVar, Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary, ref

from task_api import Claim, Condition, Order, SchemaError, Task, TaskError, TaskRef, TaskState
from task_api.task import new_task

from .refs import by_topic
from .schema.layout import VERSION, Layout
from .statements import Statements
from .transaction import Parameters, Row, Transaction, adapt

__all__ = ["Decided", "Dialect", "Link", "Poll", "tasks_of"]

_UPGRADE = "upgrade it with task_sql.schema.upgrade(connection)"
_TRUSTED: Final = 60.0
"""For so many seconds a schema is not looked at again: one that is missing is noticed by the statements at once."""


class Link(NamedTuple):
    """One task that waits, or waited in vain, for another."""

    topic: str
    """The topic of the one that waits."""
    run: int
    """The one that waits."""
    after: int
    """The one that it waits for."""
    signal: int
    """What it was told."""


Decided: TypeAlias = tuple[int, str | None, object, object]
"""A decision as it is stored: state, output, due time, and time from now till then."""


@dataclass(frozen=True, slots=True)
class Poll:
    """What a poll asks for."""

    topic: str
    owner: str
    size: int
    order: Order
    condition: Condition
    lease: timedelta | None
    claim: Claim


class _Known(NamedTuple):
    """What is known of a database."""

    home: ref[object]
    layout: Layout
    until: float
    """When it is to be looked at again."""


def tasks_of(sequences: Sequence[int], identifiers: Sequence[str], inputs: Sequence[str | None]) -> list[Task]:
    """Make tasks that were stored under these numbers."""
    if len(sequences) != len(identifiers):
        message = f"{len(sequences)} of {len(identifiers)} tasks were stored"
        raise TaskError(message)
    return list(map(new_task, sequences, identifiers, inputs))


class Dialect(ABC):
    """A database: its statements, its forms for arrays and times, and how it claims and serialises."""

    name: ClassVar[str]
    """The database's name, as SQLAlchemy spells it."""
    statements: ClassVar[Statements]
    """What it executes."""
    partitions: ClassVar[bool] = False
    """Whether its schema can be partitioned."""

    def __init__(self) -> None:
        self._layouts: WeakKeyDictionary[object, _Known] = WeakKeyDictionary()
        self._latest: _Known | None = None

    def adapt(self, tx: object) -> Transaction:
        """Wrap the caller's transaction."""
        return adapt(self.name, tx, self.translate)

    def open(self, tx: object) -> tuple[Transaction, Layout]:
        """Wrap the caller's transaction, and see to it that the schema is one that this code speaks."""
        transaction = self.adapt(tx)
        home, now = transaction.home, monotonic()
        known = self._latest  # nearly always the one that is wanted, and found in half the time
        if known is None or known.home() is not home:
            known = self._latest = self._layouts.get(home)
        if known is None or now >= known.until:
            known = self._latest = _Known(ref(home), self._checked(self.layout(transaction)), now + _TRUSTED)
            self._layouts[home] = known
        return transaction, known.layout

    @staticmethod
    def _checked(layout: Layout | None) -> Layout:
        if layout is None:
            message = "the database has no topiq schema; install it with task_sql.schema.install(connection)"
            raise SchemaError(message)
        if layout.version < VERSION:
            message = f"the schema has version {layout.version}, this code needs {VERSION}; {_UPGRADE}"
            raise SchemaError(message)
        if layout.version > VERSION:
            message = (
                f"the schema has version {layout.version}, newer than {VERSION}, which this code speaks;"
                " use the topiq version that upgraded it, or a newer one"
            )
            raise SchemaError(message)
        return layout

    @abstractmethod
    def layout(self, tx: Transaction) -> Layout | None:
        """Read how the schema was installed, without harm to the transaction where there is none."""

    def installed(self, tx: Transaction) -> Layout | None:
        """Return how the schema was installed, once nobody is about to install it any more; None if there is none."""
        return self.layout(tx)

    @abstractmethod
    def translate(self, error: Exception) -> Exception | None:
        """Turn a driver's error into one of the library's, or None to leave it as it is."""

    @abstractmethod
    def autocommit(self, tx: Transaction) -> bool:
        """Tell whether each statement would be a transaction of its own: nothing is open, nothing will be."""

    @abstractmethod
    def unit(self, tx: Transaction) -> AbstractContextManager[None]:
        """
        Make several statements one unit.

        In the caller's transaction there is nothing to do. On a connection in autocommit mode with none open,
        where each statement would be its own, the call becomes the transaction.
        """

    @abstractmethod
    def migrating(self, tx: Transaction) -> AbstractContextManager[None]:
        """Make several statements on the schema one unit, alone with it."""

    def among_tables(self, tx: Transaction) -> AbstractContextManager[None]:  # noqa: ARG002 - most have one place
        """Let what is made belong where the tables are."""
        return nullcontext()

    def can_partition(self, tx: Transaction) -> bool:  # noqa: ARG002 - most need not ask
        """Tell whether this database can partition a schema that its dialect could."""
        return self.partitions

    def migrate(self, tx: Transaction, script: Iterable[str]) -> None:
        """Execute the statements of a script."""
        for statement in script:
            tx.run(statement)

    @abstractmethod
    def table(self, **columns: Sequence[object]) -> dict[str, object]:
        """Turn columns of equal length into parameters that a statement can read as rows."""

    def claims(self, sequences: Sequence[int], tokens: Sequence[int]) -> dict[str, object]:
        """Turn claims on tasks into parameters."""
        return self.table(sequences=sequences, tokens=tokens)

    @abstractmethod
    def decisions(
        self, sequences: Sequence[int], tokens: Sequence[int], decided: Sequence[Decided]
    ) -> dict[str, object]:
        """Turn tasks and what is decided on each into parameters."""

    @abstractmethod
    def moment(self, value: datetime | None) -> object:
        """Turn an aware moment into a parameter."""

    @abstractmethod
    def span(self, value: timedelta | None) -> object:
        """Turn a time from now into a parameter."""

    def due(self, due: datetime | timedelta | None) -> tuple[object, object]:
        """Turn a due time into two parameters, the moment or the time from now."""
        if isinstance(due, timedelta):
            return None, self.span(due)
        return self.moment(due), None

    @abstractmethod
    def read_moment(self, value: object) -> datetime | None:
        """Turn a stored time into an aware one in UTC."""

    def initialize(self, tx: Transaction, topic: str) -> bool:
        """Make a topic known; tell whether it is new."""
        rows = tx.rows(self.statements.topic.initialize, {"topic": topic})
        return bool(rows and rows[0][0])

    def insert_one(self, tx: Transaction, layout: Layout, topic: str, row: Row) -> int | None:
        """Insert an (identifier, input, reference, state, due, delay) row; return its sequence, or None."""
        identifier, text, reference, state, due, delay = row
        rows = tx.rows(
            self.statements.push.one,
            {
                "topic": topic,
                "identifier": identifier,
                "input": text,
                "reference": reference,
                "state": state,
                "due": due,
                "delay": delay,
                "notify": layout.notify and state == TaskState.READY,
            },
        )
        return rows[0][0] if rows else None

    def insert_plain_one(
        self, tx: Transaction, layout: Layout, topic: str, identifier: str, text: str | None
    ) -> int | None:
        """Insert a READY task that has nothing else; return its sequence, or None."""
        return self.insert_one(tx, layout, topic, (identifier, text, None, int(TaskState.READY), None, None))

    @abstractmethod
    def insert(self, tx: Transaction, layout: Layout, topic: str, rows: Sequence[Row]) -> list[Task]:
        """Insert (identifier, input, reference, state, due, delay) rows; return their tasks in this order, or none."""

    def insert_plain(
        self, tx: Transaction, layout: Layout, topic: str, identifiers: Sequence[str], inputs: Sequence[str | None]
    ) -> list[Task]:
        """Insert READY tasks that have nothing else; return them in this order, or none."""
        rows = [(*given, None, int(TaskState.READY), None, None) for given in zip(identifiers, inputs, strict=True)]
        return self.insert(tx, layout, topic, rows)

    @abstractmethod
    def copy(self, tx: Transaction, parameters: Parameters, number: int) -> dict[int, int]:
        """Insert copies of tasks in their order; return their sequences by those of the originals."""

    @abstractmethod
    def serialize(self, tx: Transaction, topic: str, identifiers: Sequence[str], salt: int) -> None:
        """Wait for other transactions that do the same with one of the identifiers."""

    def decide(
        self, tx: Transaction, statement: str, parameters: Parameters, sequences: Collection[int]
    ) -> tuple[int, list[int]]:
        """Decide tasks; tell how many were, and which of the given ones, whose end it is, others may wait for."""
        number = tx.run(statement, parameters)
        return number, self.awaited(tx, sequences) if number and sequences else []

    def awaited(self, tx: Transaction, sequences: Collection[int]) -> list[int]:
        """Tell which tasks others wait for, or waited for before they failed."""
        rows = tx.rows(self.statements.dependency.awaited, self.table(sequences=list(sequences)))
        return [sequence for (sequence,) in rows]

    def watch(
        self,
        tx: Transaction,
        layout: Layout,  # noqa: ARG002 - for those who announce that polls have passed over tasks
        afters: Collection[TaskRef],
        links: Collection[tuple[TaskRef, TaskRef]] = (),
    ) -> dict[TaskRef, Row]:
        """
        Lock tasks that others are to wait for, so that whoever decides them learns it, and the others if they exist.

        Returns the rows that `DependencyStatements.lock` describes.
        """
        return self.locked(tx, afters) | self.locked(tx, {run for run, _ in links})

    def locked(self, tx: Transaction, refs: Collection[TaskRef]) -> dict[TaskRef, Row]:
        """Lock tasks in their order; return their rows."""
        return self.rows_of(tx, self.statements.dependency.lock, refs)

    def rows_of(self, tx: Transaction, statement: str, refs: Collection[TaskRef]) -> dict[TaskRef, Row]:
        """Return what a statement that takes a topic and sequences finds of tasks, each row by its sequence."""
        return {
            TaskRef(topic, row[0]): row
            for topic, sequences in by_topic(refs).items()
            for row in tx.rows(statement, {"topic": topic, **self.table(sequences=sequences)})
        }

    def downstream(self, tx: Transaction, sequences: Sequence[int]) -> list[Link]:
        """Find who waits for tasks or waited in vain, who waits for those, and so on."""
        dependency = self.statements.dependency
        if dependency.downstream:
            return [Link(*row) for row in tx.rows(dependency.downstream, self.table(sequences=sequences))]
        links: list[Link] = []
        seen, step = set(sequences), list(sequences)
        while step:
            found = [Link(*row) for row in tx.rows(dependency.waiting, self.table(sequences=step))]
            links += found
            step = sorted({link.run for link in found} - seen)
            seen.update(step)
        return links

    def announce(self, tx: Transaction, topic: str, layout: Layout) -> None:  # noqa: B027 - not every database can
        """Wake those who listen to a topic of which tasks are decided that somebody waits for."""

    def refused(self, tx: Transaction) -> None:  # noqa: B027 - not every database does
        """Say why held tasks were not decided, if the transaction is not one to do so in."""

    @abstractmethod
    def claim(self, tx: Transaction, layout: Layout, poll: Poll) -> list[Row]:
        """Claim tasks; return (sequence, identifier, input, attempt, token) rows in any order."""

    def claim_between(self, tx: Transaction, poll: Poll, low: str, high: str) -> list[Row]:
        """Claim the task of the lowest identifier from one on and below another; return its row, as above."""
        parameters = {
            "topic": poll.topic,
            "owner": poll.owner,
            "size": poll.size,
            "lease": self.span(poll.lease),
            "low": low,
            "high": high,
        }
        return tx.rows(self.statements.between.poll[poll.claim], parameters)

    def recall(self, tx: Transaction) -> None:  # noqa: B027 - not every database has to
        """See to it that the statements can tell what this transaction has claimed for itself."""

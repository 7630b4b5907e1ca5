"""What drives a repository and the model with the same calls and compares all that can be seen."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine

from task_api import (
    Claim,
    Counting,
    LostTaskError,
    Snapshot,
    Summary,
    Task,
    TaskInfo,
    TaskState,
    TaskStateError,
)
from tests.contention.plain_sql import execute
from tests.model.model import Model, Row
from tests.model.narrator import Narrator

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hypothesis.strategies import DataObject

    from task_api import TaskRepository
    from tests.backends import Backend, Transaction

OWNERS = ["me", "other"]
TOPICS = ["north", "south"]
LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)
COMMIT, ROLLBACK, STAY = "commit", "rollback", "stay"


class Comparison(RuleBasedStateMachine):
    """Two owners that take turns on one connection, their transactions spanning one or several calls."""

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.backend = backend
        self.transaction: Transaction = backend.open()
        if backend.name == "sqlite":
            execute(self.transaction, "PRAGMA synchronous = OFF")  # a crash is not in question here
        for table in ("task", "task_owner", "task_activation"):
            execute(self.transaction, f"DELETE FROM {table}")  # noqa: S608 - ours
        self.repositories = {owner: backend.repository(owner, register=False) for owner in OWNERS}
        for repository in self.repositories.values():
            repository.register(self.transaction)
        for topic in TOPICS:
            repository.initialize(self.transaction, topic)
        self.transaction.commit()
        self.model = Model(TOPICS, dict.fromkeys(OWNERS, True))
        self.saved: Model | None = None
        """The model as it was when the open transaction began."""
        self.owner = "me"
        self.handles: list[tuple[str, Task]] = []
        """Every task that was ever returned, with its topic, as its holder or producer knows it."""
        self.real: dict[int, int] = {}
        """The repository's sequence of each of the model's."""
        self.before: dict[int, int] = {}
        """The same when the open transaction began."""
        self.known: dict[int, int] = {}
        """The model's sequence of each of the repository's."""

    def teardown(self) -> None:
        """Give the connection back."""
        self.backend.close(self.transaction)

    # The machinery

    def begin(self, data: DataObject) -> None:
        """Open a transaction of some owner if none is open."""
        if self.saved is None:
            self.owner = data.draw(st.sampled_from(OWNERS), label="owner")
            note(f"# {self.owner} begins")
            self.saved = self.model.copy()
            self.before = dict(self.real)

    def finish(self, end: str) -> None:
        """End the transaction, or leave it open, and compare everything that can be seen."""
        if end != STAY:
            note(f"tx.{end}()")
        if end == COMMIT:
            self.transaction.commit()
            self.model.claimed = {}
            self.saved = None
        elif end == ROLLBACK:
            self.transaction.rollback()
            assert self.saved is not None
            self.model, self.saved = self.saved, None
            self.forget()
        self.compare()
        if self.saved is None:
            self.transaction.rollback()  # what the comparison opened

    def forget(self) -> None:
        """Forget the tasks that were rolled back; their sequences are lost, or used again (SQLite)."""
        self.real = self.before
        self.known = {theirs: mine for mine, theirs in self.real.items()}
        self.handles = [(topic, task) for topic, task in self.handles if task.sequence in self.real]

    def step(
        self,
        topic: str,
        end: str,
        real: Callable[[TaskRepository[Any], Transaction], object],
        model: Callable[[Model], object],
    ) -> None:
        """Make one call on both sides."""
        expected = _outcome(lambda: model(self.model))
        actual = _outcome(lambda: real(Narrator.tells(self.repositories[self.owner]), self.transaction))
        self.bind(_tasks(actual), _tasks(expected))
        translated, plain = self.translate(actual), _plain(expected)
        assert translated == plain
        self.handles += [(topic, task) for task in _tasks(expected)]
        self.finish(end)

    def bind(self, actual: list[Task], expected: list[Task]) -> None:
        """Learn which sequence of the repository is which of the model: both count upwards."""
        for task, known in zip(actual, expected, strict=False):
            if task.sequence not in self.known and known.sequence not in self.real:
                assert task.sequence > max(self.known, default=0)
                self.real[known.sequence] = task.sequence
                self.known[task.sequence] = known.sequence

    def translate(self, value: object) -> object:
        """The repository's answer with the model's sequences."""
        return _plain(value, self.known)

    def theirs(self, task: Task) -> Task:
        """The model's task as the repository knows it."""
        sequence = self.real[task.sequence]
        return Task(sequence, task.identifier, task.input, task.attempt, task.token, task.claim)

    def row(self, sequence: int) -> Row | None:
        """The model's row of a sequence."""
        return next((row for row in self.model.rows if row.sequence == sequence), None)

    def holds(self, row: Row | None, task: Task) -> bool:
        """Whether a task is held by the owner."""
        if row is None or task.claim is Claim.TRANSACTION:
            return task.sequence in self.model.claimed
        return (row.state, row.owner, row.token) == (TaskState.ACTIVE, self.owner, task.token)

    # What is drawn

    def end(self, data: DataObject) -> str:
        """Whether the transaction ends with this step."""
        return data.draw(st.sampled_from([STAY, COMMIT, STAY, COMMIT, STAY, ROLLBACK]), label="end")

    def held(self, data: DataObject) -> tuple[str, list[Task]]:
        """Tasks of one topic that the owner mostly holds."""
        rows = {row.sequence: row for row in self.model.rows}
        held = [(topic, task) for topic, task in self.handles if self.holds(rows.get(task.sequence), task)]
        return self.tasks(data, held)

    def those_in(self, data: DataObject, states: Collection[TaskState]) -> tuple[str, list[Task]]:
        """Tasks of one topic that are mostly in these states."""
        found = [(row.topic, Task(row.sequence, row.identifier)) for row in self.model.rows if row.state in states]
        return self.tasks(data, found)

    def tasks(self, data: DataObject, preferred: list[tuple[str, Task]]) -> tuple[str, list[Task]]:
        """Some tasks in order, mostly preferred ones of one topic, but now and then any under any topic."""
        anything = not preferred or data.draw(st.integers(0, 7), label="anything") == 7
        pool = self.handles if anything else preferred
        topic, first = data.draw(st.sampled_from(pool), label="task")
        if anything:
            topic = data.draw(st.sampled_from(TOPICS), label="topic")
        beside = [task for other, task in pool if other == topic] or [first]
        drawn = data.draw(st.lists(st.sampled_from(beside), max_size=3), label="more")
        return topic, sorted({task.sequence: task for task in [*drawn, first]}.values())

    # What can be seen

    def compare(self) -> None:
        """Compare every task, all counts and all results."""
        look, transaction = self.repositories["me"], self.transaction
        for topic in TOPICS:
            seen = look.page(transaction, topic, size=1000)
            assert [self.seen(info) for info in seen] == [_row(row) for row in self.model.of(topic)]
        for snapshot in Snapshot:
            counted = look.count(transaction, snapshot)
            assert self.translate(counted) == self.model.count(snapshot, Counting())
        assert look.results(transaction) == self.model.results(dated=False)
        assert look.results(transaction, since=LONG_AGO) == self.model.results(dated=True)

    def seen(self, info: TaskInfo) -> dict[str, object]:
        """A stored task in the model's terms; a time is there or not."""
        return {
            "topic": info.topic,
            "sequence": self.known[info.sequence],
            "identifier": info.identifier,
            "state": info.state,
            "input": info.input,
            "reference": info.reference,
            "descent": info.descent,
            "owner": info.owner,
            "attempt": info.attempt,
            "token": info.token,
            "origin": info.origin and self.known[info.origin],
            "completed": info.completed is not None,
            "output": info.output is not None,
            "due": info.due is not None and info.state < TaskState.RECREATED,
            "lease": info.lease is not None and info.state is TaskState.ACTIVE,
        }


def _outcome(call: Callable[[], object]) -> object:
    """What a call returns, or the error that it is allowed to raise."""
    try:
        return call()
    except (LostTaskError, TaskStateError) as error:
        return error


def _tasks(outcome: object) -> list[Task]:
    """The tasks of an outcome that may be used from now on."""
    if isinstance(outcome, Task):
        return [outcome]
    if isinstance(outcome, list):
        return outcome
    return list(outcome.values()) if isinstance(outcome, dict) else []


def _plain(value: object, known: dict[int, int] | None = None) -> object:
    """An outcome in comparable form, its sequences translated if told how."""

    def number(sequence: int) -> object:
        return sequence if known is None else known.get(sequence, f"unknown {sequence}")

    match value:
        case LostTaskError() | TaskStateError():
            return type(value), {number(task.sequence) for task in value.tasks}
        case Task():
            return (
                number(value.sequence),
                value.identifier,
                value.input,
                value.attempt,
                value.token,
                value.claim,
            )
        case Summary():
            return Summary(value.count, number(value.bound))  # type: ignore[arg-type]
        case list():
            return [_plain(item, known) for item in value]
        case dict():
            return {
                number(key.sequence) if isinstance(key, Task) else key: _plain(item, known)
                for key, item in value.items()
            }
        case _:
            return value


def _row(row: Row) -> dict[str, object]:
    """A row of the model as `Comparison.seen` describes a stored task."""
    return {
        **vars(row),
        "due": row.due is not None and row.state < TaskState.RECREATED,
        "lease": row.lease is not None and row.state is TaskState.ACTIVE,
    }

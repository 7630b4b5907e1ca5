"""Bringing tasks back, and giving them other results: one algorithm for all databases."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from task_api import (
    INCEPTION,
    MAX_SEQUENCE,
    REVIVABLE,
    Insertion,
    InvalidTaskError,
    Revivification,
    Task,
    TaskResult,
    TaskState,
    TaskStateError,
)

from .arguments import (
    checked_bound,
    checked_enum,
    checked_size,
    checked_task,
    checked_tasks,
    checked_text,
    checked_topic,
    storable,
)
from .base import T
from .schema.layout import Layout
from .settling import outcome_of
from .sink import INSERTING, SqlTaskSink
from .transaction import Parameters, Row, Transaction

__all__ = ["SqlTaskReviver"]

_INSERTIONS: Final = {
    Revivification.APPEND: Insertion.APPEND,
    Revivification.REPLACE: Insertion.REPLACE,
    Revivification.SUPERSEDE: Insertion.SUPERSEDE,
}


class SqlTaskReviver(SqlTaskSink[T]):
    """Revives and reassigns tasks; the rows are locked and judged first, then changed."""

    def recreate(self, tx: T, topic: str, revivification: Revivification, tasks: Iterable[Task]) -> dict[Task, Task]:
        """Revive the named tasks, all of them or none; see `TaskReviver.recreate`."""
        checked_topic(topic)
        checked_enum(Revivification, revivification)
        named = checked_tasks(tasks)
        if not named:
            return {}
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            if _replaces(revivification):
                parameters = {"topic": topic, **self._dialect.table(sequences=[task.sequence for task in named])}
                found = transaction.rows(self._statements.revive.identifiers, parameters)
                self._alone_with(transaction, topic, (identifier for (identifier,) in found), INSERTING)
            rows = self._lock_named(transaction, topic, named)
            return self._revive(transaction, layout, topic, revivification, rows)

    def recreate_state(
        self,
        tx: T,
        topic: str,
        revivification: Revivification,
        state: TaskState,
        *,
        size: int = 1,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
    ) -> dict[Task, Task]:
        """Revive tasks in a state, lowest sequence first; see `TaskReviver.recreate_state`."""
        checked_topic(topic)
        checked_enum(Revivification, revivification)
        _checked_revivable(state)
        parameters = {
            "topic": topic,
            "size": checked_size(size),
            "first": checked_bound("first", first),
            "last": checked_bound("last", last),
        }
        if not size:
            return {}
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            if _replaces(revivification):
                rows = self._lock_alone(transaction, topic, state, parameters, size)
            else:
                rows = transaction.rows(self._statements.revive.by_state(state), parameters)
            if not rows:
                return {}
            rows.sort()
            return self._revive(transaction, layout, topic, revivification, rows)

    def reassign(self, tx: T, topic: str, results: Mapping[Task, TaskResult], *, message: str | None = None) -> None:
        """Give tasks other results, all of them or none; see `TaskRepository.reassign`."""
        checked_topic(topic)
        if not isinstance(results, Mapping):
            wrong = f"results are a mapping from task to TaskResult, not {type(results).__name__}"
            raise InvalidTaskError(wrong)
        states = {checked_task(task): checked_enum(TaskResult, result).state for task, result in results.items()}
        text = storable(checked_text("message", message))
        if not states:
            return
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            rows = self._lock_named(transaction, topic, list(states))
            sequences = [row[0] for row in rows]
            self._reopen(transaction, sequences)
            for target in set(states.values()):
                chosen = self._dialect.table(
                    sequences=[task.sequence for task, state in states.items() if state is target]
                )
                parameters = {"topic": topic, "message": text, **chosen}
                transaction.run(self._statements.revive.reassign(target), parameters)
            awaited = frozenset(self._dialect.awaited(transaction, sequences))
            outcomes = {
                task.sequence: outcome_of(topic, task, state, text)
                for task, state in states.items()
                if task.sequence in awaited and state is not TaskState.SUSPENDED
            }
            self._settle(transaction, layout, topic, outcomes)

    def reassign_all(
        self,
        tx: T,
        topic: str,
        state: TaskState,
        result: TaskResult,
        *,
        first: int = INCEPTION,
        last: int = MAX_SEQUENCE,
        message: str | None = None,
        skip_locked: bool = False,
    ) -> int:
        """Give every task in a state and range another result; see `TaskRepository.reassign_all`."""
        checked_topic(topic)
        _checked_revivable(state)
        target = checked_enum(TaskResult, result).state
        parameters = {
            "topic": topic,
            "first": checked_bound("first", first),
            "last": checked_bound("last", last),
            "message": storable(checked_text("message", message)),
        }
        if state is target or first > last:
            return 0
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            number = transaction.run(self._statements.revive.reassign_all(state, target, bool(skip_locked)), parameters)
            if number:
                self._settle_range(transaction, layout, topic, first, last)
            return number

    def _lock_alone(
        self, transaction: Transaction, topic: str, state: TaskState, parameters: Parameters, size: int
    ) -> list[Row]:
        """Lock tasks of a state after their identifiers, which is the order of a push; go on past locked ones."""
        locked: list[Row] = []
        rest = dict(parameters)
        while chosen := transaction.rows(self._statements.revive.chosen(state), rest):
            sequences, identifiers = zip(*chosen, strict=True)
            self._alone_with(transaction, topic, identifiers, INSERTING)
            table = self._dialect.table(sequences=sequences)
            locked += transaction.rows(self._statements.revive.again(state), {"topic": topic, **table})
            if len(locked) == size:
                break
            rest |= {"first": sequences[-1] + 1, "size": size - len(locked)}
        return locked

    def _lock_named(self, transaction: Transaction, topic: str, tasks: Sequence[Task]) -> list[Row]:
        """Lock tasks that may be revived; return their rows in the order of the tasks."""
        found = transaction.rows(
            self._statements.revive.named,
            {"topic": topic, **self._dialect.table(sequences=sorted(task.sequence for task in tasks))},
        )
        rows = {row[0]: row for row in found}
        if len(rows) != len(tasks):
            raise TaskStateError(topic, [task for task in tasks if task.sequence not in rows])
        return [rows[task.sequence] for task in tasks]

    def _revive(
        self,
        transaction: Transaction,
        layout: Layout,
        topic: str,
        revivification: Revivification,
        rows: Sequence[Row],
    ) -> dict[Task, Task]:
        """Bring locked tasks back; each maps to the one that stands for it now."""
        old = [Task(*row) for row in rows]
        sequences = [task.sequence for task in old]
        self._reopen(transaction, sequences)
        parameters = {"topic": topic, "notify": layout.notify, **self._dialect.table(sequences=sequences)}
        if revivification is Revivification.RESET:
            transaction.run(self._statements.revive.reset, parameters)
            return {task: task for task in old}
        transaction.run(self._statements.revive.retire, parameters)
        insertion = _INSERTIONS[revivification]
        states = [int(TaskState.READY)] * len(old)
        if _replaces(revivification):
            self._retire(transaction, layout, topic, (task.identifier for task in old), insertion)
            last = {task.identifier: index for index, task in enumerate(old)}
            for index, task in enumerate(old):
                if last[task.identifier] != index:
                    states[index] = int(TaskState.REDUNDANT)
        copied = {**parameters, **self._dialect.table(sequences=sequences, states=states)}
        copies = self._dialect.copy(transaction, copied, len(old))
        self._replace(transaction, layout, topic, copies, dict(zip(sequences, states, strict=True)))
        return {task: Task(copies[task.sequence], task.identifier, task.input) for task in old}

    def _replace(
        self,
        transaction: Transaction,
        layout: Layout,
        topic: str,
        copies: Mapping[int, int],
        states: Mapping[int, int],
    ) -> None:
        """Let copies wait, and be waited for, in the place of their originals."""
        originals, others = zip(*copies.items(), strict=True)
        table = self._dialect.table(sequences=originals, others=others)
        transaction.run(self._statements.dependency.move_run, table)
        if self._dialect.awaited(transaction, originals):
            transaction.run(self._statements.dependency.move_after, table)
            redundant = [copies[original] for original, state in states.items() if state == TaskState.REDUNDANT]
            if redundant:
                self._abort(transaction, layout, topic, redundant, TaskState.REDUNDANT)


def _replaces(revivification: Revivification) -> bool:
    return revivification in (Revivification.REPLACE, Revivification.SUPERSEDE)


def _checked_revivable(state: object) -> TaskState:
    known = checked_enum(TaskState, state)
    if known not in REVIVABLE:
        names = ", ".join(each.name for each in sorted(REVIVABLE))
        message = f"tasks in state {known.name} can't be revived or reassigned; only {names} can"
        raise InvalidTaskError(message)
    return known

"""Pushing tasks: one algorithm for all databases."""

from collections.abc import Iterable, Mapping
from typing import Final

from task_api import (
    Insertion,
    InvalidTaskError,
    Task,
    TaskCreation,
    TaskError,
    TaskState,
    UnknownTopicError,
)

from .arguments import checked_enum, checked_topic, storable
from .base import SqlRepository, T
from .transaction import Row, Transaction

__all__ = ["INSERTING", "SqlTaskSink"]

INSERTING: Final = 1
"""The salt of the locks that replacing pushes of one identifier wait for."""


class SqlTaskSink(SqlRepository[T]):
    """Pushes tasks."""

    def push(self, tx: T, topic: str, creation: str | TaskCreation, *, insertion: Insertion = Insertion.APPEND) -> Task:
        """Push one task; see `TaskSink.push`."""
        checked_topic(topic)
        creation = _creation(creation)
        if checked_enum(Insertion, insertion) is not Insertion.APPEND:
            return self.push_many(tx, topic, [creation], insertion=insertion)[0]
        row = self._row(creation)
        transaction, layout = self._open(tx)
        sequence = self._dialect.insert_one(transaction, layout, topic, row)
        if sequence is None:
            raise UnknownTopicError(topic)
        return Task(sequence, row[0], row[1])

    def push_many(
        self,
        tx: T,
        topic: str,
        creations: Iterable[str | TaskCreation] | Mapping[str, str | None],
        *,
        insertion: Insertion = Insertion.APPEND,
    ) -> list[Task]:
        """Push tasks in their order; see `TaskSink.push_many`."""
        checked_topic(topic)
        checked_enum(Insertion, insertion)
        rows = self._rows(_creations(creations), insertion)
        if not rows:
            return []
        dialect = self._dialect
        transaction, layout = self._open(tx)
        with dialect.unit(transaction):
            if insertion is not Insertion.APPEND:
                identifiers = [row[0] for row in rows]
                self._serialize(transaction, topic, identifiers)
                self._retire(transaction, topic, identifiers, insertion)
            sequences = dialect.insert(transaction, layout, topic, rows)
            if not sequences:
                raise UnknownTopicError(topic)
            if len(sequences) != len(rows):
                message = f"topic {topic!r}: {len(sequences)} of {len(rows)} tasks were stored"
                raise TaskError(message)
        return [Task(sequence, row[0], row[1]) for sequence, row in zip(sequences, rows, strict=True)]

    def _serialize(self, transaction: Transaction, topic: str, identifiers: Iterable[str]) -> None:
        """Be alone with the identifiers from here to the end of the transaction, among those that replace tasks."""
        self._dialect.serialize(transaction, topic, sorted(set(identifiers)), INSERTING)

    def _retire(self, transaction: Transaction, topic: str, identifiers: Iterable[str], insertion: Insertion) -> None:
        """Make older tasks redundant, or delete them."""
        table = self._dialect.table(identifiers=sorted(set(identifiers)))
        transaction.run(self._statements.push.retire[insertion], {"topic": topic, "salt": INSERTING, **table})

    def _rows(self, creations: list[TaskCreation], insertion: Insertion) -> list[Row]:
        if insertion is Insertion.APPEND:
            return [self._row(creation) for creation in creations]
        last = {creation.identifier: index for index, creation in enumerate(creations)}
        if insertion is Insertion.DELETE:
            return [self._row(creations[index]) for index in sorted(last.values())]
        return [
            self._row(creation) if last[creation.identifier] == index else self._redundant(creation)
            for index, creation in enumerate(creations)
        ]

    def _row(self, creation: TaskCreation) -> Row:
        due = creation.due
        state = TaskState.READY if due is None and not creation.suspended else TaskState.SUSPENDED
        return (
            creation.identifier,
            storable(creation.input),
            creation.reference,
            int(state),
            *(self._dialect.due(due) if due is not None else (None, None)),
        )

    @staticmethod
    def _redundant(creation: TaskCreation) -> Row:
        """Store an earlier duplicate of a batch as what it would have become."""
        return (
            creation.identifier,
            storable(creation.input),
            creation.reference,
            int(TaskState.REDUNDANT),
            None,
            None,
        )


def _creation(creation: object) -> TaskCreation:
    if isinstance(creation, TaskCreation):
        return creation
    if isinstance(creation, str):
        return TaskCreation(creation)
    message = f"a creation is an identifier or a TaskCreation, not {type(creation).__name__}"
    raise InvalidTaskError(message)


def _creations(creations: object) -> list[TaskCreation]:
    if isinstance(creations, Mapping):
        return [TaskCreation(identifier, text) for identifier, text in creations.items()]
    if isinstance(creations, str | bytes | TaskCreation) or not isinstance(creations, Iterable):
        message = f"creations are an iterable or a mapping, not {type(creations).__name__}; use push for one"
        raise InvalidTaskError(message)
    return [_creation(creation) for creation in creations]

"""Pushing tasks: one algorithm for all databases."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from task_api import (
    Insertion,
    InvalidTaskError,
    OnAbort,
    Task,
    TaskCreation,
    TaskRef,
    TaskState,
    UnknownTopicError,
)
from task_api.task import IDENTIFIER_LENGTH, checked_ref, new_task

from .arguments import checked_enum, checked_topic, storable
from .base import T
from .linking import READY_THEN, SUSPENDED_THEN, SqlLinking, require_original
from .schema.layout import Layout
from .transaction import Row, Transaction

__all__ = ["INSERTING", "SqlTaskSink", "afters_of"]

INSERTING: Final = 1
"""The salt of the locks that replacing pushes of one identifier wait for."""
_READY: Final = int(TaskState.READY)
_SUSPENDED: Final = int(TaskState.SUSPENDED)


class SqlTaskSink(SqlLinking[T]):
    """Pushes tasks."""

    def push(self, tx: T, topic: str, creation: str | TaskCreation, *, insertion: Insertion = Insertion.APPEND) -> Task:
        """Push one task; see `TaskSink.push`."""
        checked_topic(topic)
        creation = _creation(creation)
        if checked_enum(Insertion, insertion) is not Insertion.APPEND or _depends(creation):
            return self.push_many(tx, topic, [creation], insertion=insertion)[0]
        identifier, text = creation.identifier, storable(creation.input)
        if creation.due is None and not creation.reference and not creation.suspended:
            transaction, layout = self._open(tx)
            sequence = self._dialect.insert_plain_one(transaction, layout, topic, identifier, text)
        else:
            row = self._row(creation)
            transaction, layout = self._open(tx)
            sequence = self._dialect.insert_one(transaction, layout, topic, row)
        if sequence is None:
            raise UnknownTopicError(topic)
        return new_task(sequence, identifier, text)

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
        # Of a dict alone is it known that it may be read in columns.
        if insertion is Insertion.APPEND and type(creations) is dict and (plain := _plain_columns(creations)):
            return self._push_plain(tx, topic, *plain)
        given = _creations(creations)
        rows = self._rows(given, insertion)
        if not rows:
            return []
        depends = any(creation.after or creation.on_abort is not OnAbort.CASCADE for creation in given)
        afters = afters_of(topic, given) if depends else frozenset[TaskRef]()
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            if insertion is Insertion.UNIQUE:
                return self._push_missing(transaction, layout, topic, given, rows)
            known = self._watch_afters(transaction, layout, afters)
            if insertion is not Insertion.APPEND:
                identifiers = [row[0] for row in rows]
                self._serialize(transaction, topic, identifiers)
                self._retire(transaction, layout, topic, identifiers, insertion)
                known = self._watch_afters(transaction, layout, afters)  # some may be redundant now
            tasks = self._insert(transaction, layout, topic, rows)
            if depends:
                self._link_fresh(transaction, layout, topic, _pairs(given, tasks, insertion), known)
            return tasks

    def _push_plain(self, tx: T, topic: str, identifiers: Sequence[str], inputs: Sequence[str | None]) -> list[Task]:
        """Push tasks that have nothing but identifiers and inputs."""
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            tasks = self._dialect.insert_plain(transaction, layout, topic, identifiers, inputs)
        if not tasks:
            raise UnknownTopicError(topic)
        return tasks

    def _watch_afters(
        self, transaction: Transaction, layout: Layout, afters: Collection[TaskRef]
    ) -> dict[TaskRef, Row]:
        """Lock the tasks that others are to wait for."""
        if not afters:
            return {}
        known = self._dialect.watch(transaction, layout, afters)
        require_original(afters, known)
        return known

    def _push_missing(
        self,
        transaction: Transaction,
        layout: Layout,
        topic: str,
        creations: Sequence[TaskCreation],
        rows: Sequence[Row],
    ) -> list[Task]:
        """Push the first of each identifier that has no task; return the one task of each."""
        identifiers = sorted({row[0] for row in rows})
        self._serialize(transaction, topic, identifiers)
        table = self._dialect.table(identifiers=identifiers)
        found = transaction.rows(self._statements.push.present, {"topic": topic, "salt": INSERTING, **table})
        tasks = {row[1]: Task(*row) for row in found}
        first: dict[str, int] = {}
        for place, row in enumerate(rows):
            if row[0] not in tasks:
                first.setdefault(row[0], place)
        if first:
            afters = afters_of(topic, (creations[place] for place in first.values()))
            known = self._watch_afters(transaction, layout, afters)
            pushed = self._insert(transaction, layout, topic, [rows[place] for place in first.values()])
            tasks |= {task.identifier: task for task in pushed}
            fresh = [(creations[place], tasks[identifier]) for identifier, place in first.items()]
            self._link_fresh(transaction, layout, topic, fresh, known)
        return [tasks[row[0]] for row in rows]

    def _link_fresh(
        self,
        transaction: Transaction,
        layout: Layout,
        topic: str,
        pushed: Iterable[tuple[TaskCreation, Task]],
        known: Mapping[TaskRef, Row],
        *,
        inner: Iterable[tuple[Task, Task]] = (),
    ) -> None:
        """Let new tasks wait for those that their creations name, and for each other."""
        creations = {TaskRef(topic, task.sequence): creation for creation, task in pushed}
        links = [(run, checked_ref(after, topic)) for run, creation in creations.items() for after in creation.after]
        links += ((TaskRef(topic, run.sequence), TaskRef(topic, after.sequence)) for run, after in inner)
        fresh = {
            ref: (SUSPENDED_THEN if creation.suspended else READY_THEN, creation.on_abort)
            for ref, creation in creations.items()
        }
        if links:
            self._link(transaction, layout, links, known, fresh)
        alone = fresh.keys() - {run for run, _ in links}
        for on_abort in (OnAbort.RUN, OnAbort.WAIT):  # they may be told to wait later
            chosen = sorted(ref.sequence for ref in alone if fresh[ref][1] is on_abort)
            self._tie(transaction, topic, chosen, on_abort=on_abort.value)

    def _insert(self, transaction: Transaction, layout: Layout, topic: str, rows: Sequence[Row]) -> list[Task]:
        tasks = self._dialect.insert(transaction, layout, topic, rows)
        if not tasks:
            raise UnknownTopicError(topic)
        return tasks

    def _serialize(self, transaction: Transaction, topic: str, identifiers: Iterable[str]) -> None:
        """Be alone with the identifiers from here to the end of the transaction, among those that replace tasks."""
        self._dialect.serialize(transaction, topic, sorted(set(identifiers)), INSERTING)

    def _retire(
        self,
        transaction: Transaction,
        layout: Layout,
        topic: str,
        identifiers: Iterable[str],
        insertion: Insertion,
    ) -> None:
        """Make older tasks redundant, or delete them; those who wait for them learn it."""
        table = self._dialect.table(identifiers=sorted(set(identifiers)))
        statement = self._statements.push.retire[insertion]
        retired = [row[0] for row in transaction.rows(statement, {"topic": topic, "salt": INSERTING, **table})]
        if not retired:
            return
        deleted = insertion is Insertion.DELETE
        self._abort(transaction, layout, topic, retired, None if deleted else TaskState.REDUNDANT)
        if deleted:
            self._forget(transaction, retired)

    def _rows(self, creations: list[TaskCreation], insertion: Insertion) -> list[Row]:
        if insertion in (Insertion.APPEND, Insertion.UNIQUE):
            return [_plain(creation) or self._row(creation) for creation in creations]
        last = {creation.identifier: index for index, creation in enumerate(creations)}
        if insertion is Insertion.DELETE:
            return [self._row(creations[index]) for index in sorted(last.values())]
        return [
            self._row(creation) if last[creation.identifier] == index else self._redundant(creation)
            for index, creation in enumerate(creations)
        ]

    def _row(self, creation: TaskCreation, *, waits: bool = False) -> Row:
        due = creation.due
        ready = due is None and not creation.suspended and not creation.after and not waits
        moment, delay = (None, None) if due is None else self._dialect.due(due)
        return (
            creation.identifier,
            storable(creation.input),
            creation.reference,
            _READY if ready else _SUSPENDED,
            moment,
            delay,
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


def afters_of(topic: str, creations: Iterable[TaskCreation]) -> frozenset[TaskRef]:
    """Return the tasks that creations are to wait for, if their names are right."""
    return frozenset(checked_ref(after, topic) for creation in creations for after in creation.after)


def _depends(creation: TaskCreation) -> bool:
    return bool(creation.after) or creation.on_abort is not OnAbort.CASCADE


def _pairs(
    creations: Sequence[TaskCreation], tasks: Sequence[Task], insertion: Insertion
) -> list[tuple[TaskCreation, Task]]:
    """Bring creations and tasks together, without those that gave way to a later one of the same push."""
    if insertion is Insertion.APPEND:
        return list(zip(creations, tasks, strict=True))
    last = {creation.identifier: creation for creation in creations}
    return [(last[identifier], task) for identifier, task in {task.identifier: task for task in tasks}.items()]


def _creation(creation: object) -> TaskCreation:
    if isinstance(creation, TaskCreation):
        return creation
    if isinstance(creation, str):
        return TaskCreation(creation)
    message = f"a creation is an identifier or a TaskCreation, not {type(creation).__name__}"
    raise InvalidTaskError(message)


def _plain(creation: TaskCreation) -> Row | None:
    """Make the row of a creation that has nothing but names and a text that every database takes, as most have."""
    text = creation.input
    if creation.due is not None or creation.reference or creation.suspended or creation.after:
        return None
    if text is not None and ("\0" in text or not text.isascii()):
        return None
    return creation.identifier, text, None, _READY, None, None


def _plain_columns(texts: dict[str, str | None]) -> tuple[list[str], list[str | None]] | None:
    """Take a mapping for columns where all of it is as above; otherwise each entry is to be looked at."""
    names, inputs = list(texts), list(texts.values())
    given = [text for text in inputs if text is not None]
    if set(map(type, names)) != {str} or not set(map(type, given)) <= {str}:
        return None
    if max(map(len, names)) > IDENTIFIER_LENGTH or "" in texts or "" in given:
        return None
    name, text = "".join(names), "".join(given)
    if any(map(str.isspace, names)) or not name.isascii() or not name.isprintable():
        return None
    if any(map(str.isspace, given)) or not text.isascii() or "\0" in text:
        return None
    return names, inputs


def _creations(creations: object) -> list[TaskCreation]:
    if isinstance(creations, Mapping):
        return [TaskCreation(identifier, text) for identifier, text in creations.items()]
    if isinstance(creations, str | bytes | TaskCreation) or not isinstance(creations, Iterable):
        message = f"creations are an iterable or a mapping, not {type(creations).__name__}; use push for one"
        raise InvalidTaskError(message)
    given = list(creations)
    return given if set(map(type, given)) == {TaskCreation} else [_creation(creation) for creation in given]

"""Pushing further tasks, and joining them, by the tasks of a batch."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Generic, TypeAlias, TypeVar

from task_api import Insertion, InvalidTaskError, Junction, Task, TaskCreation, TaskRepository

from .context import ContextCompletion, Decisions, TaskContext
from .listener import LOGGER
from .processor import TaskProcessor
from .supplement import TaskSupplement

__all__ = ["CreationPostprocessor", "TaskConsumerContext", "tagging"]

T = TypeVar("T")

CreationPostprocessor: TypeAlias = Callable[[Task, TaskCreation], TaskCreation | Iterable[TaskCreation] | None]
"""Gets a task and what is pushed because of it, and returns none, one or many creations to push instead."""


@dataclass(frozen=True, slots=True)
class _Push:
    task: Task
    topic: str
    creation: TaskCreation
    mode: Insertion


@dataclass(frozen=True, slots=True)
class _Join:
    task: Task
    topic: str
    group: frozenset[str]
    mode: Junction


class TaskConsumerContext(TaskContext, Generic[T]):
    """
    Records what is to follow from each task, and does it in the transaction that decides the batch.

    Only tasks that still continue in the end count. All pushes come before all junctions. Once all is committed,
    the processors of the topics that got something to do are resumed.

    Args:
        topic: The topic of the batch.
        tasks: The tasks of the batch.
        repository: Where to push and join.
        processors: The processors to resume, by topic.
        postprocessor: Changes creations before they are pushed; see `tagging`.

    """

    def __init__(
        self,
        topic: str,
        tasks: Collection[Task],
        repository: TaskRepository[T],
        processors: Mapping[str, TaskProcessor] | None = None,
        *,
        postprocessor: CreationPostprocessor | None = None,
    ) -> None:
        self._topic = topic
        self._tasks = frozenset(tasks)
        self._repository = repository
        self._processors = {} if processors is None else processors
        self._postprocessor = postprocessor
        self._lock = threading.Lock()
        self._pushes: list[_Push] = []
        self._joins: list[_Join] = []
        self._touched: set[str] = set()

    def push(
        self,
        task: Task | Iterable[Task],
        topic: str,
        creation: str | TaskCreation | None = None,
        *,
        insertion: Insertion = Insertion.APPEND,
    ) -> None:
        """
        Push something to a topic if the task continues, by default a task with the same identifier.

        Raises:
            InvalidTaskError: the task does not belong to the batch.

        """
        entries = []
        for one in self._own(task):
            chosen = one.identifier if creation is None else creation
            pushed = TaskCreation(chosen) if isinstance(chosen, str) else chosen
            entries.append(_Push(one, topic, pushed, insertion))
        with self._lock:
            self._pushes += entries

    def junction(
        self,
        task: Task | Iterable[Task],
        topic: str,
        identifiers: Collection[str],
        *,
        junction: Junction = Junction.SINGULAR,
    ) -> None:
        """
        Join the task's identifier with others in a topic if the task continues.

        Raises:
            InvalidTaskError: the task does not belong to the batch.

        """
        entries = [_Join(one, topic, frozenset({one.identifier, *identifiers}), junction) for one in self._own(task)]
        with self._lock:
            self._joins += entries

    def complete(self, decisions: Decisions, executor: Executor, supplement: TaskSupplement) -> ContextCompletion:  # noqa: ARG002
        """Prepare what follows from the tasks that continue."""
        going_on = {task for task, decision in decisions.items() if decision.continued}
        with self._lock:
            pushes = [entry for entry in self._pushes if entry.task in going_on]
            joins = [entry for entry in self._joins if entry.task in going_on]

        def completion(tx: T) -> None:
            self._touched = {*self._push(tx, pushes), *self._join(tx, joins)}

        return completion

    def after_transaction(self, executor: Executor, supplement: TaskSupplement) -> None:  # noqa: ARG002
        """Resume the processors of the topics that got something to do."""
        for topic in sorted(self._touched):
            if (processor := self._processors.get(topic)) is not None:
                try:
                    processor.resume()
                except Exception:  # noqa: BLE001 - logged; it polls by itself sooner or later
                    LOGGER.exception("the processor of topic %r could not be resumed", topic)

    def _own(self, task: Task | Iterable[Task]) -> Sequence[Task]:
        tasks = [task] if isinstance(task, Task) else list(task)
        if foreign := [one for one in tasks if one not in self._tasks]:
            message = f"topic {self._topic!r}: tasks outside of the batch: {', '.join(map(str, foreign))}"
            raise InvalidTaskError(message)
        return tasks

    def _push(self, tx: T, entries: Sequence[_Push]) -> Iterator[str]:
        for topic, insertion, group in _runs(entries):
            creations = [creation for entry in group for creation in self._processed(entry)]
            if creations:
                self._repository.push_many(tx, topic, creations, insertion=insertion)
                yield topic

    def _join(self, tx: T, entries: Sequence[_Join]) -> Iterator[str]:
        for topic, junction, group in _runs(entries):
            if self._repository.junction(tx, topic, [entry.group for entry in group], junction=junction):
                yield topic

    def _processed(self, entry: _Push) -> Iterable[TaskCreation]:
        if self._postprocessor is None:
            return (entry.creation,)
        processed = self._postprocessor(entry.task, entry.creation)
        if processed is None:
            return ()
        return (processed,) if isinstance(processed, TaskCreation) else processed


def tagging(reference: str | None = None, *, override: bool = True) -> CreationPostprocessor:
    """Set the reference of what is pushed: the sequence of the task that it follows from, or a text."""

    def tag(task: Task, creation: TaskCreation) -> TaskCreation:
        if creation.reference is not None and not override:
            return creation
        return creation.with_reference(str(task.sequence) if reference is None else reference)

    return tag


def _runs(entries: Sequence[Any]) -> Iterator[tuple[str, Any, list[Any]]]:
    """Topic by topic, in the order of their first entries: neighbours with the same mode together."""
    for topic in dict.fromkeys(entry.topic for entry in entries):
        own = [entry for entry in entries if entry.topic == topic]
        for mode, group in groupby(own, attrgetter("mode")):
            yield topic, mode, list(group)

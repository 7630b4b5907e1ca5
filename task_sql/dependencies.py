"""Tasks that wait for others, as a caller sees them: one algorithm for all databases."""

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from typing import Final

from task_api import Dependency, DependencyCycleError, InvalidTaskError, NamedTask, Task, TaskGraph, TaskRef
from task_api.graph import GraphItem, graph_of
from task_api.task import checked_ref

from .arguments import checked_topic
from .base import T
from .linking import require_original, require_waitable
from .sink import SqlTaskSink, afters_of
from .transaction import Transaction

__all__ = ["SqlTaskDependencies"]

_DEPENDING: Final = 3
"""The salt of the lock under which existing tasks are linked: two halves of a cycle must not come together."""
_LOCK: Final = "task_dependency"


class SqlTaskDependencies(SqlTaskSink[T]):
    """Lets tasks wait for others."""

    def depend(self, tx: T, dependencies: Iterable[Dependency]) -> None:
        """Let tasks wait for others; see `TaskDependencies.depend`."""
        links = _links(dependencies)
        if not links:
            return
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            self._alone_with(transaction, _LOCK, [_LOCK], _DEPENDING)
            self._refuse_cycles(transaction, links)
            known = self._dialect.watch(transaction, layout, {after for _, after in links}, links)
            require_waitable((run for run, _ in links), known)
            require_original((after for _, after in links), known)
            self._link(transaction, layout, links, known, {})

    def predecessors(self, tx: T, ref: NamedTask) -> list[TaskRef]:
        """Return what a task waits or waited for; see `TaskDependencies.predecessors`."""
        return self._refs(tx, ref, self._statements.dependency.predecessors)

    def dependents(self, tx: T, ref: NamedTask) -> list[TaskRef]:
        """Return who waits or waited for a task; see `TaskDependencies.dependents`."""
        return self._refs(tx, ref, self._statements.dependency.dependents)

    def push_graph(self, tx: T, topic: str, graph: TaskGraph | GraphItem) -> list[Task]:
        """Push a graph of tasks; see `TaskDependencies.push_graph`."""
        checked_topic(topic)
        whole = graph_of(graph)
        if not whole.creations:
            return []
        waiting = {run for run, _ in whole.links}
        rows = [
            self._row(creation, waits=place in waiting or bool(creation.after))
            for place, creation in enumerate(whole.creations)
        ]
        afters = afters_of(topic, whole.creations)
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            known = self._watch_afters(transaction, layout, afters)
            tasks = self._insert(transaction, layout, topic, rows)
            inner = [(tasks[run], tasks[after]) for run, after in whole.links]
            pushed = list(zip(whole.creations, tasks, strict=True))
            self._link_fresh(transaction, layout, topic, pushed, known, inner=inner)
        return tasks

    def _refs(self, tx: T, ref: NamedTask, statement: str) -> list[TaskRef]:
        named = checked_ref(ref)
        transaction, _ = self._open(tx)
        parameters = {"topic": named.topic, "sequence": named.sequence}
        return [TaskRef(topic, sequence) for topic, sequence in transaction.rows(statement, parameters)]

    def _refuse_cycles(self, transaction: Transaction, links: Iterable[tuple[TaskRef, TaskRef]]) -> None:
        """Follow those who wait, from the tasks that are to wait on, and see to it that none is waited for by them."""
        graph: dict[TaskRef, set[TaskRef]] = {}
        for run, after in links:
            graph.setdefault(run, set()).add(after)
        topics = {run.sequence: run.topic for run in graph}
        later = self._dialect.downstream(transaction, list(topics))
        topics |= {link.run: link.topic for link in later}
        for link in later:
            graph.setdefault(TaskRef(link.topic, link.run), set()).add(TaskRef(topics[link.after], link.after))
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            # Each of them is waited for by the next.
            raise DependencyCycleError(error.args[1][:0:-1]) from None


def _links(dependencies: object) -> list[tuple[TaskRef, TaskRef]]:
    if isinstance(dependencies, Dependency) or not isinstance(dependencies, Iterable):
        message = f"dependencies are Dependency objects in an iterable, not {type(dependencies).__name__}"
        raise InvalidTaskError(message)
    links = []
    for dependency in dependencies:
        if not isinstance(dependency, Dependency):
            message = f"a dependency is a Dependency(run, after), not {type(dependency).__name__}"
            raise InvalidTaskError(message)
        links.append((checked_ref(dependency.run), checked_ref(dependency.after)))
    return links

"""Graphs of tasks, put together from chains and groups, and pushed in one call."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from .errors import InvalidTaskError
from .task import TaskCreation

__all__ = ["GraphItem", "TaskGraph", "chain", "chord", "graph_of", "group"]


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """Tasks to be pushed, some of which wait for others among them."""

    creations: tuple[TaskCreation, ...]
    """The tasks in the order given."""
    links: tuple[tuple[int, int], ...]
    """Which waits for which, by their places; none for a later one."""
    first: tuple[int, ...]
    """The places of those that wait for none of the graph."""
    last: tuple[int, ...]
    """The places of those that none of the graph waits for."""


GraphItem: TypeAlias = TaskGraph | TaskCreation | str
"""What a graph is made of: identifiers, creations, and graphs."""


def chain(*items: GraphItem) -> TaskGraph:
    """Return a graph of items, each of which begins when the one before is done."""
    return _joined(items, in_turn=True)


def group(*items: GraphItem) -> TaskGraph:
    """Return a graph of items that don't wait for each other."""
    return _joined(items, in_turn=False)


def chord(group: TaskGraph | Iterable[GraphItem], last: GraphItem) -> TaskGraph:
    """Return a graph of a group and what begins when all of it is done."""
    if isinstance(group, str | TaskCreation) or not isinstance(group, TaskGraph | Iterable):
        message = f"a chord begins with a group, or with items in an iterable, not with {type(group).__name__}"
        raise InvalidTaskError(message)
    return chain(group if isinstance(group, TaskGraph) else _joined(tuple(group), in_turn=False), last)


def graph_of(item: object) -> TaskGraph:
    """Return a graph of one item."""
    if isinstance(item, TaskGraph):
        return item
    if isinstance(item, str):
        item = TaskCreation(item)
    if isinstance(item, TaskCreation):
        return TaskGraph((item,), (), (0,), (0,))
    message = f"a graph is made of identifiers, creations and graphs, not of {type(item).__name__}"
    raise InvalidTaskError(message)


def _joined(items: tuple[GraphItem, ...], *, in_turn: bool) -> TaskGraph:
    creations: list[TaskCreation] = []
    links: list[tuple[int, int]] = []
    first: list[int] = []
    last: list[int] = []
    for graph in map(graph_of, items):
        if not graph.creations:
            continue
        offset = len(creations)
        creations += graph.creations
        links += ((run + offset, after + offset) for run, after in graph.links)
        begins = [place + offset for place in graph.first]
        ends = [place + offset for place in graph.last]
        if not in_turn:
            first += begins
            last += ends
            continue
        links += product(begins, last)
        first = first or begins
        last = ends
    return TaskGraph(tuple(creations), tuple(links), tuple(first), tuple(last))

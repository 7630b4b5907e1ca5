"""Tasks that wait for others, as plain Python: who waits, what each was told, and what follows from a decision."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter

from task_api import DependencyCycleError, OnAbort, Task, TaskRef, TaskState, TaskStateError

ACTIVE, READY, FAILED, SUSPENDED = TaskState.ACTIVE, TaskState.READY, TaskState.FAILED, TaskState.SUSPENDED
DONE_STATES = {TaskState.FILTERED, TaskState.SUCCEEDED}
OPEN, DONE, LOST = "open", "done", "lost"


@dataclass
class Node:
    """One task."""

    topic: str
    state: TaskState
    on_abort: OnAbort = OnAbort.CASCADE
    waits: bool = False
    failed: int = 0
    """How many it waited for in vain, as it was told when it was released."""
    told: dict[int, str] = field(default_factory=dict)
    """What it was told of each task that it waits or waited for."""


@dataclass
class Links:
    """All tasks by their sequences; there is one caller at a time."""

    nodes: dict[int, Node] = field(default_factory=dict)

    def copy(self) -> Links:
        """A copy to return to when the transaction rolls back."""
        return Links({key: replace(node, told=dict(node.told)) for key, node in self.nodes.items()})

    def push(self, sequence: int, topic: str, after: list[int], on_abort: OnAbort) -> None:
        """Push a task that waits for others, some of which may be decided."""
        self.nodes[sequence] = Node(topic, READY, on_abort)
        if after:
            self._wait(sequence, after)

    def depend(self, run: int, after: int) -> None:
        """Let a task wait for another one, unless that waits for it."""
        graph = {key: {other for other, told in node.told.items() if told != DONE} for key, node in self.nodes.items()}
        graph[run].add(after)
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            raise DependencyCycleError([TaskRef("", run)]) from None
        if self.nodes[run].state not in {READY, SUSPENDED}:
            raise TaskStateError(self.nodes[run].topic, [Task(run, "?")])
        self._wait(run, [after])

    def _wait(self, run: int, after: list[int]) -> None:
        node = self.nodes[run]
        node.state, node.waits = SUSPENDED, True
        for other in after:
            node.told.setdefault(other, OPEN)
        for other in after:
            self._settle(other)
        self._release(run)

    def poll(self, topic: str) -> int | None:
        """Claim the first task that is READY."""
        ready = [key for key, node in sorted(self.nodes.items()) if (node.topic, node.state) == (topic, READY)]
        for key in ready[:1]:
            self.nodes[key].state = ACTIVE
            return key
        return None

    def complete(self, sequence: int, state: TaskState) -> None:
        """Decide a task, and tell those who wait for it."""
        self.nodes[sequence].state = state
        self._settle(sequence)

    def reset(self, sequence: int) -> None:
        """Bring a task that failed back; those that failed for it wait for it again."""
        for node in self.nodes.values():
            if node.state is FAILED and node.told.get(sequence) == LOST:
                node.told[sequence], node.waits = OPEN, True
        node = self.nodes[sequence]
        node.state = SUSPENDED if node.waits else READY

    def _settle(self, sequence: int) -> None:
        """Tell those who wait for a task what became of it."""
        state = self.nodes[sequence].state
        waiting = [key for key, node in sorted(self.nodes.items()) if node.told.get(sequence) == OPEN]
        if state in DONE_STATES:
            for key in waiting:
                self.nodes[key].told[sequence] = DONE
                self._release(key)
        elif state is FAILED:
            for key in waiting:
                self._lose(key, sequence)

    def _lose(self, key: int, sequence: int) -> None:
        node = self.nodes[key]
        if node.on_abort is OnAbort.WAIT:
            return
        node.told[sequence] = LOST
        if node.on_abort is OnAbort.CASCADE and node.state is SUSPENDED:
            node.state = FAILED
            self._settle(key)
        self._release(key)

    def _release(self, key: int) -> None:
        node = self.nodes[key]
        if node.waits and OPEN not in node.told.values():
            node.waits = False
            node.failed = list(node.told.values()).count(LOST)
            if node.state is SUSPENDED:
                node.state = READY

"""Random histories of tasks that wait for each other."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from task_api import (
    Dependency,
    DependencyCycleError,
    OnAbort,
    Revivification,
    Task,
    TaskCreation,
    TaskDecision,
    TaskRef,
    TaskResult,
    TaskState,
    TaskStateError,
    chain,
)
from tests.contention.plain_sql import execute
from tests.model.links import ACTIVE, FAILED, Links
from tests.model.narrator import Narrator

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DataObject

    from task_api import TaskRepository
    from tests.backends import Backend, Transaction

TOPICS = ["north", "south"]
topics = st.sampled_from(TOPICS)
ends = st.sampled_from(["commit", "stay", "commit", "rollback"])
results = st.sampled_from([TaskResult.SUCCESS, TaskResult.SUCCESS, TaskResult.FAILURE, TaskResult.FILTER])
REFUSED = (DependencyCycleError, TaskStateError)


class Graphs(RuleBasedStateMachine):
    """One owner that pushes tasks after others, links, decides and resets them, and rolls back now and then."""

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.backend = backend
        self.tx: Transaction = backend.open()
        for table in ("task_dependency", "task", "task_owner"):
            execute(self.tx, f"DELETE FROM {table}")  # noqa: S608 - ours
        plain: TaskRepository[Any] = backend.repository("me", register=False)
        plain.register(self.tx)
        for topic in TOPICS:
            plain.initialize(self.tx, topic)
        self.tx.commit()
        self.plain, self.repository = plain, Narrator.tells(plain)
        self.model = Links()
        self.saved = self.model.copy()
        self.held: dict[int, Task] = {}
        """Tasks as they were claimed last."""

    def teardown(self) -> None:
        """Give the connection back."""
        self.backend.close(self.tx)

    def finish(self, end: str) -> None:
        """End the transaction, or leave it open, and compare all tasks."""
        if end == "commit":
            note("tx.commit()")
            self.tx.commit()
            self.saved = self.model.copy()
        elif end == "rollback":
            note("tx.rollback()")
            self.tx.rollback()
            self.model = self.saved.copy()
        seen = {info.sequence: info for topic in TOPICS for info in self.plain.page(self.tx, topic, size=1000)}
        assert {key: (info.topic, info.state, info.failed) for key, info in seen.items()} == {
            key: (node.topic, node.state, node.failed) for key, node in self.model.nodes.items()
        }

    def ref(self, sequence: int) -> TaskRef:
        """A task's name."""
        return TaskRef(self.model.nodes[sequence].topic, sequence)

    def some(self, data: DataObject, *states: TaskState) -> int:
        """A task, in one of these states if any are given."""
        known = [key for key, node in self.model.nodes.items() if not states or node.state in states]
        return data.draw(st.sampled_from(sorted(known)), label="task")

    @rule(data=st.data(), topic=topics, on_abort=st.sampled_from(OnAbort), end=ends)
    def push(self, data: DataObject, topic: str, on_abort: OnAbort, end: str) -> None:
        """Push a task after some others, in whatever state they are."""
        known = sorted(self.model.nodes)
        after = data.draw(st.lists(st.sampled_from(known), max_size=3, unique=True)) if known else []
        creation = TaskCreation("task", after=tuple(map(self.ref, after)), on_abort=on_abort)
        task = self.repository.push(self.tx, topic, creation)
        self.model.push(task.sequence, topic, after, on_abort)
        self.finish(end)

    @rule(topic=topics, end=ends)
    def push_chain(self, topic: str, end: str) -> None:
        """Push two tasks, one after the other."""
        first, second = self.repository.push_graph(self.tx, topic, chain("first", "second"))
        self.model.push(first.sequence, topic, [], OnAbort.CASCADE)
        self.model.push(second.sequence, topic, [first.sequence], OnAbort.CASCADE)
        self.finish(end)

    @precondition(lambda self: self.model.nodes)
    @rule(data=st.data(), end=ends)
    def depend(self, data: DataObject, end: str) -> None:
        """Let any task wait for any other."""
        run, after = self.some(data), self.some(data)
        link = Dependency(self.ref(run), self.ref(after))
        self.both(lambda: self.repository.depend(self.tx, [link]), lambda: self.model.depend(run, after))
        self.finish(end)

    def both(self, real: Callable[[], object], model: Callable[[], object]) -> None:
        """Make a call on both sides, which may be refused."""
        outcomes: list[type | None] = []
        for call in (model, real):
            try:
                call()
            except REFUSED as error:
                outcomes.append(type(error))
            else:
                outcomes.append(None)
        assert outcomes[0] is outcomes[1]

    @precondition(lambda self: self.model.nodes)
    @rule(topic=topics, result=results, end=ends)
    def work(self, topic: str, result: TaskResult, end: str) -> None:
        """Poll the next task and decide it."""
        self.claim(topic)
        self.decide([key for key, node in self.model.nodes.items() if node.state is ACTIVE][-1:], result)
        self.finish(end)

    @precondition(lambda self: self.model.nodes)
    @rule(topic=topics, end=ends)
    def hold(self, topic: str, end: str) -> None:
        """Poll the next task and keep it."""
        self.claim(topic)
        self.finish(end)

    @precondition(lambda self: any(node.state is ACTIVE for node in self.model.nodes.values()))
    @rule(topic=topics, result=results, end=ends)
    def decide_all(self, topic: str, result: TaskResult, end: str) -> None:
        """Decide all that are held of a topic at once."""
        held = [key for key, node in self.model.nodes.items() if (node.topic, node.state) == (topic, ACTIVE)]
        self.decide(held, result)
        self.finish(end)

    def claim(self, topic: str) -> None:
        """Poll the next task."""
        task = self.repository.poll(self.tx, topic)
        assert (task.sequence if task else None) == self.model.poll(topic)
        if task:
            self.held[task.sequence] = task
            assert task.failed == self.model.nodes[task.sequence].failed

    def decide(self, sequences: list[int], result: TaskResult) -> None:
        """Decide tasks of one topic."""
        if not sequences:
            return
        decisions = {self.held[key]: TaskDecision(result) for key in sequences}
        self.repository.complete_many(self.tx, self.model.nodes[sequences[0]].topic, decisions)
        for key in sequences:
            self.model.complete(key, result.state)

    @precondition(lambda self: any(node.state is FAILED for node in self.model.nodes.values()))
    @rule(data=st.data(), end=ends)
    def reset(self, data: DataObject, end: str) -> None:
        """Bring a task that failed back."""
        key = self.some(data, FAILED)
        self.repository.recreate(self.tx, self.ref(key).topic, Revivification.RESET, [Task(key, "task")])
        self.model.reset(key)
        self.finish(end)

    @precondition(lambda self: self.model.nodes)
    @rule(data=st.data())
    def look(self, data: DataObject) -> None:
        """Who waits or waited for whom, and whether a task is decided."""
        key = self.some(data)
        nodes = self.model.nodes
        assert {ref.sequence for ref in self.plain.predecessors(self.tx, self.ref(key))} == nodes[key].told.keys()
        dependents = {ref.sequence for ref in self.plain.dependents(self.tx, self.ref(key))}
        assert dependents == {other for other, node in nodes.items() if key in node.told}
        try:
            decided = self.plain.wait(lambda: nullcontext(self.tx), self.ref(key), timedelta())
        except TimeoutError:
            assert nodes[key].state in {ACTIVE, TaskState.READY, TaskState.SUSPENDED}
        else:
            assert decided.state is nodes[key].state

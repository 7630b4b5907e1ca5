"""Every call of a repository, on a scene in which each has something to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from task_api import (
    Claim,
    Condition,
    Counting,
    Dependency,
    Insertion,
    Junction,
    Revivification,
    Snapshot,
    TaskCreation,
    TaskDecision,
    TaskRef,
    TaskRepository,
    TaskResult,
    TaskState,
    chain,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import Task

Repository: TypeAlias = TaskRepository[Any]
TOPIC = "topic"
LONG = timedelta(hours=1)


@dataclass(frozen=True)
class Scene:
    """Tasks of a topic, each in a state that some calls need."""

    held: Task
    """ACTIVE, and another waits for it."""
    ready: Task
    done: Task
    failed: Task
    suspended: Task


def set_up(repository: Repository, tx: Any) -> Scene:  # noqa: ANN401 - any transaction
    """Make the scene, as the owner of the tables."""
    repository.register(tx)
    repository.initialize(tx, TOPIC)
    decisions = {"done": TaskDecision.SUCCESS, "failed": TaskDecision.FAILURE}
    decided = {}
    for identifier, decision in decisions.items():
        repository.push(tx, TOPIC, identifier)
        task = repository.poll(tx, TOPIC)
        assert task is not None
        repository.complete(tx, TOPIC, task, decision)
        decided[identifier] = task
    repository.push(tx, TOPIC, TaskCreation("held", "input"))
    held = repository.poll(tx, TOPIC, lease=timedelta(0))
    assert held is not None
    repository.push(tx, TOPIC, TaskCreation("next", after=(held,)))
    repository.push(tx, TOPIC, TaskCreation("due", due=timedelta(0)))
    suspended = repository.push(tx, TOPIC, TaskCreation("suspended", suspended=True))
    return Scene(held, repository.push(tx, TOPIC, "ready"), decided["done"], decided["failed"], suspended)


def _insertion(insertion: Insertion) -> Call:
    return lambda r, tx, _: r.push_many(tx, TOPIC, ["ready", "done", "failed"], insertion=insertion)


def _revival(revivification: Revivification) -> Call:
    return lambda r, tx, s: r.recreate(tx, TOPIC, revivification, [s.failed])


def _after(pick: Callable[[Scene], Task]) -> Call:
    return lambda r, tx, s: r.push(tx, TOPIC, TaskCreation("after", after=(pick(s),)))


def _transactional(r: Repository, tx: Any, _: Scene) -> None:  # noqa: ANN401 - any transaction
    task = r.poll(tx, TOPIC, claim=Claim.TRANSACTION)
    assert task is not None
    r.complete(tx, TOPIC, task)


Call: TypeAlias = "Callable[[Repository, Any, Scene], object]"

PUSHING: dict[str, Call] = {
    "push": lambda r, tx, _: r.push(tx, TOPIC, TaskCreation("new", "input", "reference")),
    "push_many": lambda r, tx, _: r.push_many(tx, TOPIC, [TaskCreation("new", due=LONG), "newer"]),
    "push_many by a stream": lambda r, tx, _: r.push_many(tx, TOPIC, list(map(str, range(200)))),
    "push UNIQUE": _insertion(Insertion.UNIQUE),
    "push SUPERSEDE": _insertion(Insertion.SUPERSEDE),
    "push REPLACE": _insertion(Insertion.REPLACE),
    "push after one that is held": _after(lambda scene: scene.held),
    "push after one that is done": _after(lambda scene: scene.done),
    "push after one that failed": _after(lambda scene: scene.failed),
    "push_graph": lambda r, tx, _: r.push_graph(tx, TOPIC, chain("one", "two")),
    "depend": lambda r, tx, s: r.depend(
        tx, [Dependency(TaskRef(TOPIC, s.suspended.sequence), TaskRef(TOPIC, s.ready.sequence))]
    ),
    "junction SINGULAR": lambda r, tx, _: r.junction(tx, TOPIC, [{"suspended"}]),
    "junction ETERNAL": lambda r, tx, _: r.junction(tx, TOPIC, [{"suspended", "done"}], junction=Junction.ETERNAL),
}
"""What puts tasks in, or lets them go on."""
DELETING: dict[str, Call] = {
    "push DELETE": _insertion(Insertion.DELETE),
    "purge": lambda r, tx, _: r.purge(tx, TOPIC),
    "purge_all": lambda r, tx, _: r.purge_all(tx, TOPIC),
}
"""What deletes tasks."""
COUNTING: dict[str, Call] = {
    "topics": lambda r, tx, _: r.topics(tx),
    "count TOTAL": lambda r, tx, _: r.count(tx, counting=Counting(TOPIC, TaskState.READY, "reference", "ready")),
    "count RECENT": lambda r, tx, _: r.count(tx, Snapshot.RECENT),
    "next_due": lambda r, tx, _: r.next_due(tx, TOPIC),
    "predecessors": lambda r, tx, s: r.predecessors(tx, TaskRef(TOPIC, s.ready.sequence)),
    "dependents": lambda r, tx, s: r.dependents(tx, TaskRef(TOPIC, s.held.sequence)),
    "refresh": lambda r, tx, _: r.refresh(tx),
    "initialize what is known": lambda r, tx, _: r.initialize(tx, TOPIC),
}
"""What shows no more than a producer has to know, and what changes nothing."""
LOOKING: dict[str, Call] = {
    "task": lambda r, tx, s: r.task(tx, TOPIC, s.held.sequence),
    "page": lambda r, tx, _: r.page(tx, TOPIC),
    "between": lambda r, tx, _: r.between(tx, TOPIC, "a", "z"),
    "results": lambda r, tx, _: r.results(tx),
    "resolve": lambda r, tx, _: r.resolve(tx, datetime.now(UTC)),
    "owners": lambda r, tx, _: r.owners(tx, LONG),
    "activation": lambda r, tx, _: r.activation(tx, TOPIC),
}
"""What shows everything."""
WORKING: dict[str, Call] = {
    "poll": lambda r, tx, _: r.poll(tx, TOPIC),
    "poll_many SINGULAR": lambda r, tx, _: r.poll_many(tx, TOPIC, 5, condition=Condition.SINGULAR_BY_IDENTIFIER),
    "poll for the transaction": lambda r, tx, _: r.poll(tx, TOPIC, claim=Claim.TRANSACTION),
    "poll and complete in one transaction": _transactional,
    "poll_between": lambda r, tx, _: r.poll_between(tx, TOPIC, "a", "z"),
    "complete": lambda r, tx, s: r.complete(tx, TOPIC, s.held),
    "complete with a failure": lambda r, tx, s: r.complete(tx, TOPIC, s.held, TaskDecision.failure("no")),
    "complete_many": lambda r, tx, s: r.complete_many(tx, TOPIC, {s.held: TaskDecision.retry(LONG)}),
    "release": lambda r, tx, s: r.release(tx, TOPIC, [s.held]),
    "extend": lambda r, tx, s: r.extend(tx, TOPIC, [s.held], LONG),
    "checkpoint": lambda r, tx, s: r.checkpoint(tx, TOPIC, s.held, "half way"),
    "register": lambda r, tx, _: r.register(tx),
    "heartbeat": lambda r, tx, _: r.heartbeat(tx),
    "expire": lambda r, tx, _: r.expire(tx, LONG),
    "purge_owners": lambda r, tx, _: r.purge_owners(tx, LONG),
    "eject": lambda r, tx, s: r.eject(tx, TOPIC, s.held),
    "recreate APPEND": _revival(Revivification.APPEND),
    "recreate REPLACE": _revival(Revivification.REPLACE),
    "recreate SUPERSEDE": _revival(Revivification.SUPERSEDE),
    "recreate RESET": _revival(Revivification.RESET),
    "recreate_state": lambda r, tx, _: r.recreate_state(tx, TOPIC, Revivification.APPEND, TaskState.FAILED),
    "reassign": lambda r, tx, s: r.reassign(tx, TOPIC, {s.failed: TaskResult.SUCCESS}, message="by hand"),
    "reassign_all": lambda r, tx, _: r.reassign_all(tx, TOPIC, TaskState.FAILED, TaskResult.SUCCESS),
}
"""What claims tasks, decides them, and brings them back."""
PROMOTING: dict[str, Call] = {"promote": lambda r, tx, _: r.promote(tx, TOPIC)}
"""What a role that may release tasks may do, as nothing tells it from that."""
PAUSING: dict[str, Call] = {"activate": lambda r, tx, _: r.activate(tx, TOPIC, False)}  # noqa: FBT003 - the API's
"""What stops the work on a topic, or lets it begin."""
WAITING: dict[str, Call] = {"look": lambda r, tx, s: r.look(tx, TaskRef(TOPIC, s.held.sequence))}  # type: ignore[attr-defined]
"""What `wait` does again and again: it looks, and asks to be woken."""
OWNING: dict[str, Call] = {
    "initialize": lambda r, tx, _: r.initialize(tx, "another"),
    "destroy": lambda r, tx, _: r.destroy(tx, TOPIC),
}
"""What is left to the owner of the tables."""
CALLS = PUSHING | DELETING | COUNTING | LOOKING | WORKING | PROMOTING | PAUSING | WAITING | OWNING

"""What actors do: each function gives a script."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from task_api import (
    Claim,
    Condition,
    Insertion,
    Order,
    Revivification,
    Task,
    TaskCreation,
    TaskDecision,
)
from task_sql import PostgresTaskRepository
from tests.interleaving.scenario import TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from task_api import TaskRepository
    from tests.interleaving.stage import Script

Tasks = dict[str, Task]
"""The tasks that a scene begins with, by identifier."""


@dataclass
class Hands:
    """Who holds which identifier, as the actors themselves see it."""

    held: dict[str, str] = field(default_factory=dict)

    def take(self, owner: str, tasks: Iterable[Task]) -> None:
        """Insist that nobody else holds a task of the same identifier."""
        for task in tasks:
            other = self.held.get(task.identifier)
            assert other is None, f"{task} is claimed by {owner} while {other} holds one of its identifier"
            self.held[task.identifier] = owner

    def leave(self, owner: str) -> None:
        """Hold nothing any more; before the end of the transaction, which lets others go on."""
        self.held = {identifier: other for identifier, other in self.held.items() if other != owner}


def poll(size: int = 1, condition: Condition = Condition.NONE, order: Order = Order.FIRST_IN_FIRST_OUT) -> Script:
    """Claim tasks; return their sequences."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        return [task.sequence for task in repository.poll_many(tx, TOPIC, size, condition=condition, order=order)]

    return script


def work(
    size: int = 1, condition: Condition = Condition.NONE, claim: Claim = Claim.COMMITTED, hands: Hands | None = None
) -> Script:
    """Claim tasks and complete them, in one transaction or two; return their sequences."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        owner = repository.owner
        tasks = repository.poll_many(tx, TOPIC, size, condition=condition, claim=claim)
        if hands:
            hands.take(owner, tasks)
        if claim is Claim.COMMITTED:
            tx.commit()
        if tasks:
            repository.complete_many(tx, TOPIC, dict.fromkeys(tasks, TaskDecision.success(owner)))
        if hands:
            hands.leave(owner)
        return [task.sequence for task in tasks]

    return script


def complete(tasks: Tasks, name: str, decision: TaskDecision | None = None) -> Script:
    """Decide a task that was claimed before; return who did."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        repository.complete(tx, TOPIC, tasks[name], decision or TaskDecision.success(repository.owner))
        return repository.owner

    return script


def push(*identifiers: str, insertion: Insertion = Insertion.APPEND, **fields: Any) -> Script:
    """Push tasks whose input says by whom; return their number."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        creations = [TaskCreation(identifier, repository.owner, **fields) for identifier in identifiers]
        return len(repository.push_many(tx, TOPIC, creations, insertion=insertion))

    return script


def push_after(tasks: Tasks, name: str, *others: str) -> Script:
    """Push a task that waits for others; return it."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        after = tuple(tasks[other] for other in others)
        return repository.push(tx, TOPIC, TaskCreation(name, repository.owner, after=after)).sequence

    return script


def recreate(tasks: Tasks, name: str, revivification: Revivification) -> Script:
    """Revive a task."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        return len(repository.recreate(tx, TOPIC, revivification, [tasks[name]]))

    return script


def in_turn(*scripts: Script) -> Script:
    """Several scripts, each in a transaction of its own; return what each returned, if any did something."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        values = []
        for number, each in enumerate(scripts, 1):
            values.append(each(repository, tx))
            if number < len(scripts):
                tx.commit()
        return values if any(values) else None

    return script


def together(*scripts: Script) -> Script:
    """Several scripts in one transaction; return what each returned."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        return [each(repository, tx) for each in scripts]

    return script


def scene(
    tasks: Tasks,
    names: Iterable[str] = (),
    *,
    held: Iterable[str] = (),
    holder: str = "one",
    **fields: Any,
) -> Callable[[TaskRepository[Any], Any], None]:
    """Push tasks that stay READY, after others that are pushed and claimed by a holder; note them all."""

    def before(repository: TaskRepository[Any], tx: Any) -> None:  # noqa: ANN401 - a connection
        if claimed := list(held):
            repository.push_many(tx, TOPIC, claimed)
            owner = PostgresTaskRepository(holder)
            owner.register(tx)
            polled = owner.poll_many(tx, TOPIC, len(claimed))
            tasks.update({task.identifier: task for task in polled})
        pushed = repository.push_many(tx, TOPIC, [TaskCreation(name, **fields) for name in names])
        tasks.update({task.identifier: task for task in pushed})

    return before

"""``topiq release`` and ``eject``: tasks whose holder is stuck."""

from __future__ import annotations

import getpass
import secrets
import socket
from enum import Enum
from typing import TYPE_CHECKING, Final

import click
from sqlalchemy import text

import task_sql
from task_api import TaskDecision, TaskState
from task_console import queries
from task_console.errors import Failure
from task_console.options import SEQUENCE, TEXT, EnumType, connected, topic_argument

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlalchemy import Connection

    from task_api import Task, TaskInfo, TaskRepository
    from task_console.database import Database
    from task_console.render import Output

__all__ = ["eject", "release"]

_OWNER_LENGTH = 200


class Fate(Enum):
    """What becomes of an ejected task."""

    FAILED = "FAILED"
    """It has failed."""
    SUSPENDED = "SUSPENDED"
    """It waits until it is revived."""
    FILTERED = "FILTERED"
    """There is nothing to do."""
    SUCCEEDED = "SUCCEEDED"
    """It is done, as the operator knows."""


_DECISIONS: Final[dict[Fate, Callable[[str], TaskDecision]]] = {
    Fate.FAILED: TaskDecision.failure,
    Fate.SUSPENDED: TaskDecision.suspension,
    Fate.FILTERED: TaskDecision.filter,
    Fate.SUCCEEDED: TaskDecision.success,
}


def _chosen(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the tasks that it takes."""
    sequences = click.argument("sequences", nargs=-1, type=SEQUENCE, metavar="[SEQUENCE]...")
    owner = click.option(
        "--owner", type=TEXT, help="All tasks of the topic that this owner holds, instead of sequences."
    )
    return topic_argument(sequences(owner(function)))


@click.command()
@_chosen
@connected
def release(topic: str, sequences: tuple[int, ...], owner: str | None, database: Database, output: Output) -> None:
    """
    Take ACTIVE tasks from their holder and make them READY again, all of them or none.

    For a holder that is stuck: its attempt does not count, and whatever it still does with them is refused and
    rolled back.

    JSON: {released: [sequence]}.
    """
    with database.write() as tx:
        operator, held = _taken(tx, topic, sequences, owner, database)
        operator.release(tx, topic, held)
        _leave(tx, operator)
    lines = [f"{task} is READY again" for task in held]
    output.answer({"released": [task.sequence for task in held]}, *lines)


@click.command()
@_chosen
@click.option(
    "--to",
    "fate",
    type=EnumType(Fate),
    default=Fate.FAILED,
    help="What becomes of them; FAILED by default. For READY use `topiq release`.",
)
@click.option("--message", type=TEXT, help="What to store as their output; by default who took them from whom.")
@connected
def eject(
    topic: str,
    sequences: tuple[int, ...],
    owner: str | None,
    *,
    fate: Fate,
    message: str | None,
    database: Database,
    output: Output,
) -> None:
    """
    Take ACTIVE tasks from their holder and decide them, all of them or none.

    For a task that does harm, or that will never end: unless told otherwise it becomes FAILED, from where it can be
    revived. Whatever its holder still does with it is refused and rolled back.

    JSON: {ejected: [sequence], state}.
    """
    decide = _DECISIONS[fate]
    with database.write() as tx:
        operator, held = _taken(tx, topic, sequences, owner, database)
        decisions = {
            task: decide(message or f"ejected from {holder} by {operator.owner}") for task, holder in held.items()
        }
        operator.complete_many(tx, topic, decisions)
        _leave(tx, operator)
    lines = [f"{task} is {fate.name}" for task in held]
    output.answer({"ejected": [task.sequence for task in held], "state": fate.name}, *lines)


def _taken(
    tx: Connection, topic: str, sequences: tuple[int, ...], owner: str | None, database: Database
) -> tuple[TaskRepository[Any], dict[Task, str | None]]:
    """Take the chosen tasks over, as an owner that is known in this transaction alone; give their holders too."""
    if bool(sequences) == (owner is not None):
        message = "name tasks by their sequences, or all that an owner holds with --owner"
        raise click.UsageError(message)
    database.require_topics(tx, topic)
    chosen = database.tasks(tx, topic, sequences if owner is None else queries.active_of(tx, topic, owner))
    if not chosen:
        message = f"{owner!r} holds no task of {topic}; `topiq owners` lists who holds what"
        raise Failure(message)
    operator: TaskRepository[Any] = task_sql.create_repository(database.engine, owner=_operator())
    operator.register(tx)
    return operator, {operator.eject(tx, topic, _active(task)): task.owner for task in chosen}


def _active(task: TaskInfo) -> TaskInfo:
    if task.state is not TaskState.ACTIVE:
        message = f"{task} is {task.state.name}, nobody holds it; nothing was changed"
        raise Failure(message)
    return task


def _leave(tx: Connection, operator: TaskRepository[Any]) -> None:
    """Forget the operator before anybody sees him: he holds nothing any more, and never beats."""
    tx.execute(text("DELETE FROM task_owner WHERE owner = :owner"), {"owner": operator.owner})


def _operator() -> str:
    """Return a name that says in the stored task who took it."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"
    return f"{user}@{socket.gethostname()}"[:_OWNER_LENGTH] + f" {secrets.token_hex(4)}"

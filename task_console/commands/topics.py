"""``topiq topics``, ``init``, ``destroy``, ``pause`` and ``resume``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from task_api import Counting
from task_console.options import connected, topic_argument, yes_option
from task_console.render import FLEXIBLE
from task_console.words import counted

if TYPE_CHECKING:
    from task_console.database import Database
    from task_console.render import Output

__all__ = ["destroy", "init", "pause", "resume", "topics"]

_ACTIVATION = {None: "", True: "resumed", False: "PAUSED"}
_topics_argument = click.argument("topics", nargs=-1, required=True, metavar="TOPIC...")


@click.command()
@connected
def topics(database: Database, output: Output) -> None:
    """
    List the topics and whether they are paused.

    JSON: [{topic, activation}], where activation is true, false, or null if nobody has said so.
    """
    repository = database.repository
    with database.read() as tx:
        found = {topic: repository.activation(tx, topic) for topic in sorted(repository.topics(tx))}
    output.rows(
        [{"topic": topic, "activation": active} for topic, active in found.items()],
        {"topic": FLEXIBLE, "activation": {}},
        [(topic, _ACTIVATION[active]) for topic, active in found.items()],
        empty="There are no topics; make one with `topiq init TOPIC`.",
    )


@click.command()
@_topics_argument
@connected
def init(topics: tuple[str, ...], database: Database, output: Output) -> None:
    """
    Make topics, so that tasks can be pushed to them, all of them or none. One that exists is left as it is.

    JSON: {topic: whether it is new}.
    """
    with database.write() as tx:
        made = {topic: database.repository.initialize(tx, topic) for topic in dict.fromkeys(topics)}
    output.answer(made, *(f"{topic}: {'made' if new else 'was there already'}" for topic, new in made.items()))


@click.command()
@topic_argument
@yes_option
@connected
def destroy(topic: str, *, yes: bool, database: Database, output: Output) -> None:
    """
    Delete a topic with all its tasks, whatever their state, also those that are being worked on.

    Shows how many tasks that are and asks, unless --yes. JSON: {topic, tasks}.
    """
    with database.read() as tx:
        database.require_topics(tx, topic)
        counts = database.repository.count(tx, counting=Counting(topic=topic))[topic]
    tasks = sum(summary.count for summary in counts.values())
    states = ", ".join(f"{summary.count} {state.name}" for state, summary in sorted(counts.items()))
    number = counted(tasks, "task")
    output.note(f"{topic} has {number}{': ' + states if states else ''}")
    output.confirm(f"Delete {topic} and its {number}?", yes=yes)
    with database.write() as tx:
        database.repository.destroy(tx, topic)
    said = counted(tasks, "task is deleted", "tasks are deleted")
    output.answer({"topic": topic, "tasks": tasks}, f"{topic} is destroyed, {said}")


@click.command()
@_topics_argument
@connected
def pause(topics: tuple[str, ...], database: Database, output: Output) -> None:
    """
    Store that topics are not to be worked on, for every worker that heeds it, also after a restart.

    What is under way is finished. Tasks can still be pushed. JSON: {topic: activation}.
    """
    _activate(topics, database, active=False)
    output.answer(
        dict.fromkeys(topics, False),
        *(f"{topic} is paused; `topiq resume {topic}` ends that" for topic in topics),
    )


@click.command()
@_topics_argument
@connected
def resume(topics: tuple[str, ...], database: Database, output: Output) -> None:
    """
    Store that topics are to be worked on again.

    JSON: {topic: activation}.
    """
    _activate(topics, database, active=True)
    output.answer(dict.fromkeys(topics, True), *(f"{topic} is resumed" for topic in topics))


def _activate(topics: tuple[str, ...], database: Database, *, active: bool) -> None:
    with database.write() as tx:
        database.require_topics(tx, *topics)
        for topic in topics:
            database.repository.activate(tx, topic, active)

"""``topiq revive`` and ``reassign``: second chances and second thoughts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from task_api import INCEPTION, MAX_SEQUENCE, REVIVABLE, Counting, Revivification, TaskResult, TaskState
from task_console.options import SEQUENCE, TEXT, EnumType, bounds, connected, topic_argument
from task_console.progress import progress
from task_console.words import counted

if TYPE_CHECKING:
    from task_console.database import Database
    from task_console.render import Output

__all__ = ["reassign", "revive"]

_CHUNK = 1000
_sequences_argument = click.argument("sequences", nargs=-1, type=SEQUENCE, metavar="[SEQUENCE]...")
_state_option = click.option(
    "--state", type=EnumType(TaskState, only=REVIVABLE), help="All tasks in this state, instead of sequences."
)


@click.command()
@topic_argument
@_sequences_argument
@_state_option
@bounds
@click.option("--size", type=click.IntRange(min=1), help="With --state, only so many, the oldest first.")
@click.option(
    "--how",
    type=EnumType(Revivification),
    default=Revivification.RESET,
    help="RESET, the default, makes them READY at their old place; the others push a copy of each.",
)
@connected
def revive(
    topic: str,
    sequences: tuple[int, ...],
    *,
    state: TaskState | None,
    first: int | None,
    last: int | None,
    size: int | None,
    how: Revivification,
    database: Database,
    output: Output,
) -> None:
    """
    Bring EXPIRED, FAILED, SUSPENDED, FILTERED or SUCCEEDED tasks back.

    Named tasks are revived all or none. With --state it is done in chunks, each committed.

    JSON: {revived, tasks}, where tasks maps each named sequence to the one that stands for it now.
    """
    if _named(sequences, state, first, last, size):
        with database.write() as tx:
            database.require_topics(tx, topic)
            tasks = database.repository.recreate(tx, topic, how, database.tasks(tx, topic, sequences))
        mapping = {str(old.sequence): new.sequence for old, new in tasks.items()}
        value = {"revived": len(mapping), "tasks": mapping}
        lines = [f"{old} is READY again" if old == str(new) else f"{old} is now {new}" for old, new in mapping.items()]
        output.answer(value, *lines)
        return
    assert state is not None  # noqa: S101 - told by _named
    revived = _revive_state(topic, state, how, within=_bounds(first, last), size=size, database=database, output=output)
    one, many = f"{state.name} task of {topic} is revived", f"{state.name} tasks of {topic} are revived"
    output.answer({"revived": revived}, counted(revived, one, many))


def _revive_state(
    topic: str,
    state: TaskState,
    how: Revivification,
    *,
    within: tuple[int, int],
    size: int | None,
    database: Database,
    output: Output,
) -> int:
    """Revive chunk by chunk, never past the last task that there is now: a revived one may fail again at once."""
    first, last = within
    with database.read() as tx:
        database.require_topics(tx, topic)
        counts = database.repository.count(tx, counting=Counting(topic, state), first=first, last=last)[topic]
    if state not in counts:
        return 0
    total = counts[state].count if size is None else min(counts[state].count, size)
    done, last = 0, counts[state].bound
    with progress(output, "reviving", total) as advance:
        while done < total:
            with database.write() as tx:
                revived = database.repository.recreate_state(
                    tx, topic, how, state, size=min(_CHUNK, total - done), first=first, last=last
                )
            if not revived:
                break
            first = max(revived).sequence + 1
            done += len(revived)
            advance(len(revived))
    return done


@click.command()
@topic_argument
@_sequences_argument
@_state_option
@bounds
@click.option("--to", "result", type=EnumType(TaskResult), required=True, help="The new result.")
@click.option("--message", type=TEXT, help="A reason, appended to the tasks' outputs.")
@connected
def reassign(
    topic: str,
    sequences: tuple[int, ...],
    *,
    state: TaskState | None,
    first: int | None,
    last: int | None,
    result: TaskResult,
    message: str | None,
    database: Database,
    output: Output,
) -> None:
    """
    Give EXPIRED, FAILED, SUSPENDED, FILTERED or SUCCEEDED tasks another result, all of them or none.

    JSON: {reassigned}.
    """
    named = _named(sequences, state, first, last)
    repository = database.repository
    with database.write() as tx:
        database.require_topics(tx, topic)
        if named:
            tasks = database.tasks(tx, topic, sequences)
            repository.reassign(tx, topic, dict.fromkeys(tasks, result), message=message)
            number = len(tasks)
        else:
            assert state is not None  # noqa: S101 - told by _named
            low, high = _bounds(first, last)
            number = repository.reassign_all(tx, topic, state, result, first=low, last=high, message=message)
    said = counted(number, f"task of {topic} is", f"tasks of {topic} are")
    output.answer({"reassigned": number}, f"{said} now {result.state.name}")


def _named(sequences: tuple[int, ...], state: TaskState | None, *more: int | None) -> bool:
    """Tell whether tasks are named, not meant by their state; complain about both or neither."""
    if bool(sequences) == (state is not None):
        message = "name tasks by their sequences, or all of a state with --state"
        raise click.UsageError(message)
    if sequences and any(value is not None for value in more):
        message = "--first, --last and --size go with --state, not with sequences"
        raise click.UsageError(message)
    return bool(sequences)


def _bounds(first: int | None, last: int | None) -> tuple[int, int]:
    return INCEPTION if first is None else first, MAX_SEQUENCE if last is None else last

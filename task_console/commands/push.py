"""``topiq push``: tasks from the command line, from a file or from another program."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from typing import IO, TYPE_CHECKING, Any, Final

import click

from task_api import Insertion, InvalidTaskError, OnAbort, Task, TaskCreation, TaskRef
from task_api.task import checked_ref
from task_console import queries
from task_console.errors import Exit, Failure
from task_console.moments import parse_due, span
from task_console.options import DUE, TEXT, EnumType, connected, topic_argument
from task_console.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime, timedelta

    from task_console.database import Database
    from task_console.render import Output

__all__ = ["push"]

_CHUNK = 5000
_FIELDS = tuple(field.name for field in fields(TaskCreation))


class _LinesType(click.File):
    """A file, or the standard input if there is one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - theirs
        if value == "-" and sys.stdin is None:
            self.fail("the standard input is closed", param, ctx)
        return super().convert(value, param, ctx)


@click.command()
@topic_argument
@click.argument("identifiers", nargs=-1, metavar="[ID]...")
@click.option("--input", "text", type=TEXT, help="What the work needs; the same for every ID.")
@click.option("--reference", type=TEXT, help="A second name to list the tasks by.")
@click.option("--due", type=DUE, help="When they become READY: 10m from now, or 2026-11-01T18:00 (UTC).")
@click.option("--suspended", is_flag=True, help="Let them wait for a junction or an operator.")
@click.option(
    "--from-file",
    "file",
    type=_LinesType(encoding="utf-8", errors="surrogateescape"),
    help="Read tasks from a file, or from the standard input if it is -.",
)
@click.option(
    "--insertion",
    type=EnumType(Insertion),
    default=Insertion.APPEND,
    help="What becomes of older tasks of the same identifiers. By default they are left alone.",
)
@connected
def push(
    topic: str,
    identifiers: tuple[str, ...],
    *,
    text: str | None,
    reference: str | None,
    due: datetime | timedelta | None,
    file: IO[str] | None,
    insertion: Insertion,
    suspended: bool,
    database: Database,
    output: Output,
) -> None:
    """
    Push tasks to a topic, all of them or none.

    Each line of a file is a JSON object with the fields of a task: identifier, and if you like input, reference,
    suspended, due, after and on_abort. An input that is no text is stored as JSON; due is written as in --due, or as
    seconds from now; after is a list of tasks, each a sequence of the same topic or {"topic": ..., "sequence": ...}.

    JSON: [{sequence, identifier, new}], where new is false for a task that UNIQUE found.
    """
    given = text is not None or reference is not None or due is not None or suspended
    if file is not None and (identifiers or given):
        message = "--from-file brings identifiers and all their fields; leave the others out"
        raise click.UsageError(message)
    if file is None and not identifiers:
        message = "nothing to push; give identifiers, or lines of JSON with --from-file"
        raise click.UsageError(message)
    if file is None:
        creations = [TaskCreation(identifier, text, reference, suspended, due) for identifier in identifiers]
    else:
        # Read to the end before the transaction begins: who writes the lines may take his time.
        creations = list(_creations(file))
    tasks: list[Task] = []
    with database.write() as tx:
        database.require_topics(tx, topic)
        for start in range(0, len(creations), _CHUNK):
            chunk = creations[start : start + _CHUNK]
            tasks += database.repository.push_many(tx, topic, chunk, insertion=insertion)
        known = _known(database, topic, tasks) if insertion is Insertion.UNIQUE else frozenset[int]()
    output.answer(
        [
            {"sequence": task.sequence, "identifier": task.identifier, "new": task.sequence not in known}
            for task in tasks
        ],
        _said(topic, list(dict.fromkeys(task.sequence for task in tasks)), known),
    )


def _known(database: Database, topic: str, tasks: list[Task]) -> frozenset[int]:
    """Return which of the tasks were there before: others see them, while those just pushed wait for the commit."""
    with database.read() as tx:
        return queries.present(tx, topic, {task.sequence for task in tasks})


def _said(topic: str, sequences: list[int], known: frozenset[int]) -> str:
    new = [sequence for sequence in sequences if sequence not in known]
    there = counted(len(known), "task was there already", "tasks were there already")
    if not new:
        found = f"{sequences[0]} was there already" if len(known) == 1 else there
        return f"nothing was pushed to {topic}{': ' + found if known else ''}"
    said = f"pushed {new[0]} to {topic}"
    if len(new) > 1:
        said = f"pushed {len(new)} tasks to {topic}: {new[0]} to {new[-1]}"
    return f"{said}{'; ' + there if known else ''}"


def _creations(file: IO[str]) -> Iterator[TaskCreation]:
    name = getattr(file, "name", "<stdin>")
    for number, line in enumerate(file, 1):
        if line.isspace():
            continue
        try:
            creation = _creation(_value(line))
        except ValueError as error:
            message = f"{name}, line {number}: {error}; nothing was pushed"
            raise Failure(message, Exit.USAGE) from error
        except RecursionError as error:
            message = f"{name}, line {number}: it is nested too deeply; nothing was pushed"
            raise Failure(message, Exit.USAGE) from error
        yield creation


def _value(line: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        line.encode()
        return json.loads(line)
    except UnicodeEncodeError as error:
        message = "it is not UTF-8"
        raise InvalidTaskError(message) from error
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        message = "a number in it has too many digits"
        raise InvalidTaskError(message) from error


def _creation(value: Any) -> TaskCreation:  # noqa: ANN401 - checked here
    if isinstance(value, str):
        return TaskCreation(value)
    if not isinstance(value, dict):
        message = f"a task is an object or an identifier, not {json.dumps(value)[:40]}"
        raise InvalidTaskError(message)
    if unknown := [name for name in value if name not in _FIELDS]:
        message = f"unknown field {unknown[0]!r}; there are {', '.join(_FIELDS)}"
        raise InvalidTaskError(message)
    if "identifier" not in value:
        message = "a task needs an identifier"
        raise InvalidTaskError(message)
    return TaskCreation(
        **{name: _CONVERTERS[name](item) if name in _CONVERTERS else item for name, item in value.items()}
    )


def _input(value: Any) -> str | None:  # noqa: ANN401 - any JSON
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _due(value: Any) -> datetime | timedelta | None:  # noqa: ANN401 - checked here
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return span(value, value)
    if isinstance(value, str):
        return parse_due(value)
    message = f"due is a time or a number of seconds, not {json.dumps(value)[:40]}"
    raise InvalidTaskError(message)


def _after(value: Any) -> tuple[TaskRef | Task, ...]:  # noqa: ANN401 - checked here
    if not isinstance(value, list):
        message = f"after is a list of tasks, not {json.dumps(value)[:40]}"
        raise InvalidTaskError(message)
    return tuple(_ref(item) for item in value)


def _ref(value: Any) -> TaskRef | Task:  # noqa: ANN401 - checked here
    if isinstance(value, int) and not isinstance(value, bool):
        task = Task(value, "?")
        checked_ref(task, "?")
        return task
    if isinstance(value, dict) and value.keys() == {"topic", "sequence"}:
        return checked_ref(TaskRef(value["topic"], value["sequence"]))
    message = f'a task to wait for is a sequence, or {{"topic": ..., "sequence": ...}}, not {json.dumps(value)[:40]}'
    raise InvalidTaskError(message)


def _on_abort(value: Any) -> OnAbort:  # noqa: ANN401 - checked here
    names = [each.name for each in OnAbort]
    if not isinstance(value, str) or value.upper() not in names:
        message = f"on_abort is one of {', '.join(names)}, not {json.dumps(value)[:40]}"
        raise InvalidTaskError(message)
    return OnAbort[value.upper()]


_CONVERTERS: Final[dict[str, Callable[[Any], Any]]] = {
    "input": _input,
    "due": _due,
    "after": _after,
    "on_abort": _on_abort,
}

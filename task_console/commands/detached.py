"""``topiq detached``: processes that outlive the worker which started them."""

from __future__ import annotations

import os
import time
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

import click

from task_api import InvalidTaskError
from task_console.errors import Exit, Failure
from task_console.moments import shown
from task_console.options import DURATION, SEQUENCE, json_option
from task_console.render import FLEXIBLE, RIGHT, Output
from task_processor.detached.folder import DetachedFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import timedelta

    from task_processor.detached.folder import DetachedProcess

__all__ = ["detached"]

_LOOK: Final = 0.05

_logs_option = click.option(
    "--logs",
    envvar="TOPIQ_LOGS",
    show_envvar=True,
    metavar="FOLDER",
    help="The folder of their logs, as DetachedTaskHandlerFactory was given it.",
)
_timeout_option = click.option(
    "--timeout", type=DURATION, default="1m", show_default=True, help="How long to wait until they are gone."
)


@click.group(no_args_is_help=True)
def detached() -> None:
    """List, stop and kill processes that outlive their worker; they need no database for that."""


@detached.command("list")
@_logs_option
@json_option
def list_processes(logs: str | None, *, as_json: bool) -> None:
    """
    List the detached processes that run.

    JSON: [{topic, sequence, identifier, function, owner, host, pid, born, started, log}].
    """
    found = _folder(logs).running()
    header: dict[str, Any] = {
        "topic": FLEXIBLE,
        "sequence": RIGHT,
        "identifier": FLEXIBLE,
        "pid": RIGHT,
        "host": {},
        "started": {},
        "log": FLEXIBLE,
    }
    rows = [
        (each.topic, each.sequence, each.identifier, each.pid, each.host, shown(each.started), each.log)
        for each in found
    ]
    Output(as_json=as_json).rows([_value(each) for each in found], header, rows, empty="No detached process runs.")


def _chosen(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the processes that it takes."""
    topic = click.argument("topic", required=False)
    sequences = click.argument("sequences", nargs=-1, type=SEQUENCE, metavar="[SEQUENCE]...")
    everything = click.option("--all", "everything", is_flag=True, help="All of the topic, or of the folder.")
    return topic(sequences(everything(_timeout_option(_logs_option(json_option(function))))))


@detached.command()
@_chosen
def stop(
    topic: str | None,
    sequences: tuple[int, ...],
    *,
    everything: bool,
    timeout: timedelta,
    logs: str | None,
    as_json: bool,
) -> None:
    """
    Ask processes to give their tasks back and end, with SIGTERM.

    The work may make a last checkpoint within its grace. The task becomes READY, its attempt not counted, and whoever
    polls it next goes on from there. A second stop ends the grace.

    JSON: {stopped: [{topic, sequence, pid}]}.
    """
    folder = _folder(logs)
    processes = _found(folder, topic, sequences, everything=everything)
    _end(folder, processes, "stop", timeout)
    _tell("stopped", processes, Output(as_json=as_json))


@detached.command()
@_chosen
def kill(
    topic: str | None,
    sequences: tuple[int, ...],
    *,
    everything: bool,
    timeout: timedelta,
    logs: str | None,
    as_json: bool,
) -> None:
    """
    End processes and all of their groups at once, with SIGKILL.

    The task expires when the heartbeat is missed, and whoever polls it next goes on from the last checkpoint.

    JSON: {killed: [{topic, sequence, pid}]}.
    """
    folder = _folder(logs)
    processes = _found(folder, topic, sequences, everything=everything)
    _end(folder, processes, "kill", timeout)
    _tell("killed", processes, Output(as_json=as_json))


def _folder(logs: str | None) -> DetachedFolder:
    if not logs:
        message = "no folder: pass --logs or set TOPIQ_LOGS to the folder of the logs"
        raise Failure(message, Exit.USAGE)
    if not os.path.isdir(logs):  # noqa: PTH112 - which takes a name that is too long for a missing one
        message = f"there is no folder {logs}"
        raise Failure(message, Exit.USAGE)
    try:
        return DetachedFolder(logs)
    except InvalidTaskError as error:
        raise Failure(str(error), Exit.USAGE) from error


def _found(
    folder: DetachedFolder, topic: str | None, sequences: Sequence[int], *, everything: bool
) -> list[DetachedProcess]:
    if everything == bool(sequences):
        message = "name the topic and the sequences of the tasks, or pass --all"
        raise Failure(message, Exit.USAGE)
    running = [each for each in folder.running() if topic in (None, each.topic)]
    if everything:
        return running
    for sequence in sequences:
        if sequence not in {each.sequence for each in running}:
            message = f"no detached process works on task {sequence} of topic {topic!r}; `topiq detached list` has all"
            raise Failure(message, Exit.UNKNOWN)
    return [each for each in running if each.sequence in sequences]


def _end(folder: DetachedFolder, processes: Sequence[DetachedProcess], what: str, timeout: timedelta) -> None:
    """Signal processes and wait until they are gone; only then say what went wrong."""
    problems = _signal(processes, what)
    told = {process.owner for process in processes} - problems.keys()
    messages = [f"can't {what} {'; '.join(problems.values())}"] if problems else []
    if left := _left(folder, told, timeout):
        names = ", ".join(map(_name, left))
        messages.append(f"still there after {timeout}: {names}; it was told, and may yet end")
    if messages:
        raise Failure("; ".join(messages))


def _signal(processes: Sequence[DetachedProcess], what: str) -> dict[str, str]:
    """Signal processes, and return what went wrong with each owner."""
    problems = {}
    for process in processes:
        try:
            process.stop() if what == "stop" else process.kill()
        except OSError as error:
            # One that has ended by itself meanwhile is gone as well.
            if not (process.here and isinstance(error, ProcessLookupError)):
                problems[process.owner] = f"{_name(process)}: {error}"
    return problems


def _left(folder: DetachedFolder, owners: Collection[str], timeout: timedelta) -> list[DetachedProcess]:
    """Wait until processes are gone, and return those that are not in time."""
    deadline = time.monotonic() + timeout.total_seconds()
    while (left := [each for each in folder.running() if each.owner in owners]) and time.monotonic() < deadline:
        time.sleep(_LOOK)
    return left


def _tell(word: str, processes: Sequence[DetachedProcess], output: Output) -> None:
    value = [{"topic": each.topic, "sequence": each.sequence, "pid": each.pid} for each in processes]
    lines = [f"{_name(each)} has been {word}" for each in processes]
    output.answer({word: value}, *(lines or ["No detached process runs."]))


def _name(process: DetachedProcess) -> str:
    return f"{process.topic} {process.sequence} (process {process.pid})"


def _value(process: DetachedProcess) -> dict[str, object]:
    value = {field.name: getattr(process, field.name) for field in fields(process)}
    return value | {"log": str(process.log)}

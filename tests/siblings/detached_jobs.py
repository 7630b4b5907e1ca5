"""What the detached processes of the tests run; what they do is written down where the tests can read it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from task_api import TaskDecision, TaskResult, TaskResultError
from task_processor.detached.claim import StopRequestedError

if TYPE_CHECKING:
    from task_api import Task
    from task_processor.detached.checkpoint import Checkpoint

DEN = Path(os.environ.get("TOPIQ_TEST_DEN", os.devnull))
_LOOK = timedelta(milliseconds=20)
not_callable = "a text"


def note(words: str) -> None:
    """Write a line that stays whole whoever else writes."""
    file = os.open(DEN / "notes", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, f"{words}\n".encode())
    os.close(file)


def gone_on() -> bool:
    """Whether the test lets the work end."""
    return (DEN / "go").exists()


if DEN.is_dir():
    note(f"imported {os.getpid()}")


def quick(task: Task) -> str:
    """Do something at once."""
    note(f"quick {task.identifier}")
    return f"{task.identifier} is done"


def patient(task: Task, checkpoint: Checkpoint[Any]) -> str:
    """Wait for the test, and stop if asked to."""
    note(f"begun {task.identifier} {task.input}")
    while not gone_on():
        if checkpoint.stopping(_LOOK):
            note(f"stopping {task.identifier}")
            raise StopRequestedError
    note(f"ended {task.identifier}")
    return "patience"


def stubborn(task: Task) -> None:
    """Wait for the test, whatever else is asked."""
    note(f"begun {task.identifier} {task.input}")
    while not gone_on():
        time.sleep(_LOOK.total_seconds())
    note(f"ended {task.identifier}")


def conscientious(task: Task, checkpoint: Checkpoint[Any]) -> str:
    """Finish when asked to stop."""
    note(f"begun {task.identifier} {task.input}")
    while not checkpoint.stopping(_LOOK):
        pass
    return "finished after all"


def stepping(task: Task, checkpoint: Checkpoint[Any]) -> str:
    """Go five steps, each of which is stored, and wait for the test after the third of the first attempt."""
    step = int(task.input or 0)
    while step < 5:
        step += 1
        note(f"step {step}")
        checkpoint(str(step))
        while step == 3 and task.attempt == 1 and not gone_on():
            time.sleep(_LOOK.total_seconds())
    return f"{step} steps"


def checking(task: Task, checkpoint: Checkpoint[Any]) -> None:
    """Store the same again and again until something stops it."""
    note(f"begun {task.identifier} {task.input}")
    while True:
        checkpoint(f"{task.identifier} at work")
        time.sleep(_LOOK.total_seconds())


def greedy(task: Task, checkpoint: Checkpoint[Any]) -> str:
    """Once the test lets it, store something and write something, together."""
    note(f"begun {task.identifier} {task.input}")
    while not gone_on():
        time.sleep(_LOOK.total_seconds())
    with checkpoint.begin() as tx:
        tx.execute(text("INSERT INTO effect (name) VALUES ('greedy')"))
        checkpoint("taken", tx)
    return "taken"


def locking(task: Task, checkpoint: Checkpoint[Any]) -> str:
    """Have the task locked until the test lets it go, and then wait to be stopped."""
    with checkpoint.begin() as tx:
        checkpoint("half way", tx)
        note(f"locked {task.identifier}")
        while not gone_on():
            time.sleep(_LOOK.total_seconds())
    note(f"unlocked {task.identifier}")
    return conscientious(task, checkpoint)


def independent(task: Task, checkpoint: Checkpoint[Any]) -> str:
    """Decide together with the effect."""
    with checkpoint.begin() as tx:
        tx.execute(text("INSERT INTO effect (name) VALUES (:name)"), {"name": task.identifier})
        checkpoint.decide(tx, TaskDecision.filter("by itself"))
    return "ignored"


def raising(task: Task) -> None:
    """Fail."""
    message = f"no export for {task.identifier}"
    raise ValueError(message)


def flaky(task: Task) -> str:
    """Fail at first."""
    if task.attempt == 1:
        message = "not yet"
        raise ConnectionError(message)
    return f"done at attempt {task.attempt}"


def leaving(task: Task) -> None:  # noqa: ARG001 - as declared
    """Raise what is no Exception, without having been asked."""
    raise StopRequestedError


def choosing(task: Task) -> None:
    """Choose a result by an error."""
    raise TaskResultError(TaskResult.FILTER, f"{task.identifier} is no concern of ours")


def odd(task: Task) -> object:  # noqa: ARG001 - as declared
    """Return what decides nothing."""
    return 42


async def asynchronous(task: Task) -> str:
    """Wait for others meanwhile."""
    await asyncio.sleep(0)
    return f"{task.identifier} awaited"


async def listening(task: Task, checkpoint: Checkpoint[Any]) -> None:
    """Hear a signal of its own, as servers do, and stop if asked to."""
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, note, "signal")
    note(f"begun {task.identifier} {task.input}")
    while not await asyncio.to_thread(checkpoint.stopping, _LOOK):
        pass
    raise StopRequestedError


def speechless(task: Task) -> None:
    """Wait for the test without any output to write to."""
    sys.stdout = sys.stderr = None
    stubborn(task)


def with_a_program(task: Task) -> None:  # noqa: ARG001 - as declared
    """Call a program that does not end by itself."""
    program = subprocess.Popen(["/bin/sleep", "1000"])
    note(f"program {program.pid}")
    program.wait()


def with_a_fork(task: Task) -> None:  # noqa: ARG001 - as declared
    """Leave a process behind that waits for the test."""
    note(f"fork {_forked()}")


def with_forks(task: Task) -> None:  # noqa: ARG001 - as declared
    """Begin processes and end them with a signal at once, as a pool may do."""
    for _ in range(20):
        kid = _forked()
        os.kill(kid, signal.SIGTERM)
        _, status = os.waitpid(kid, 0)
        note(f"fork ended {os.waitstatus_to_exitcode(status)}")


def with_a_fork_of_a_fork(task: Task) -> None:  # noqa: ARG001 - as declared
    """Open files in a process, and count those that a process of that process still has."""
    if not (kid := os.fork()):
        files = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
        if not (grandkid := os.fork()):
            note(f"files {sum(Path(f'/proc/self/fd/{file}').exists() for file in files)}")
        else:
            os.waitpid(grandkid, 0)
        os._exit(0)
    os.waitpid(kid, 0)


def _forked() -> int:
    if kid := os.fork():
        return kid
    while not gone_on():
        time.sleep(_LOOK.total_seconds())
    os._exit(0)


def lingering(task: Task) -> None:
    """Leave a thread behind that keeps the process from ending."""
    note(f"begun {task.identifier} {task.input}")
    threading.Thread(target=threading.Event().wait).start()


def three(task: Task, checkpoint: Checkpoint[Any], more: object) -> None:
    """Take too much."""


def none() -> None:
    """Take too little."""

"""
What one process of a fleet runs.

Says ``stalled`` on standard output, with its tasks, where it was told to stall, and goes on when it reads a line; says
``lost`` with the tasks that others took from it, ``decided`` with those that it has done, and ``empty`` when it found
nothing. It ends with its standard input, so that none outlives the tests.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from itertools import count
from typing import TYPE_CHECKING, Any

import task_sql
from task_processor import TaskListener, TaskManager, Worker, batch, each
from tests.fleet import effects
from tests.fleet.assignment import Assignment, Stall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Connection

    from task_api import Task, TaskDecision
    from task_processor import Callback, OnFailure, TaskHandler


def say(word: str, tasks: Sequence[Task] = ()) -> None:
    """Tell the test, on a line of its own whatever other threads say."""
    sys.stdout.write(f"{word} {json.dumps([task.sequence for task in tasks])}\n")
    sys.stdout.flush()


class Duty(TaskListener):
    """Does the work of an assignment, up to where it is to stall."""

    def __init__(self, assignment: Assignment) -> None:
        self.go = threading.Event()
        self._assignment = assignment
        self._batches = count(1)
        self._stalling = False
        self._tasks: Sequence[Task] = ()
        self._done = 0

    def __call__(self, topic: str) -> TaskHandler:
        """Make the handler of a topic."""
        factory = batch(self.whole) if self._assignment.whole else each(self.single)
        return Beginning(self.begin, factory(topic))

    def begin(self, tasks: Sequence[Task]) -> None:
        """Begin a batch."""
        stall = self._assignment.stall
        self._stalling = stall is not None and next(self._batches) == self._assignment.after + 1
        self._tasks, self._done = tasks, 0
        if self._stalling and stall is Stall.CLAIMED:
            self._stall()

    def on_complete(self, topic: str, trace: Any, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ANN401, ARG002
        """Tell."""
        say("decided", list(decisions))

    def on_lost(self, topic: str, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401, ARG002 - as declared
        """Tell."""
        say("lost", tasks)

    def on_empty(self, topic: str) -> None:  # noqa: ARG002 - as declared
        """Tell."""
        say("empty")

    def single(self, task: Task, tx: Connection) -> None:
        """Work on one task."""
        effects.write(tx, self._assignment.owner, [task])
        self._done += 1
        if self._stalling and self._assignment.stall is Stall.HALF and self._done == (len(self._tasks) + 1) // 2:
            self._stall()

    def whole(self, tasks: Sequence[Task], tx: Connection) -> None:
        """Work on a batch."""
        half = (len(tasks) + 1) // 2
        effects.write(tx, self._assignment.owner, tasks[:half])
        if self._stalling and self._assignment.stall is Stall.HALF:
            self._stall()
        effects.write(tx, self._assignment.owner, tasks[half:])

    def _stall(self) -> None:
        say("stalled", self._tasks)
        self.go.wait()


class Beginning:
    """A handler before which something else is done."""

    def __init__(self, begin: Callable[[Sequence[Task]], None], handler: TaskHandler) -> None:
        self._begin = begin
        self._handler = handler

    def __call__(self, tasks: Sequence[Task], callback: Callback, on_failure: OnFailure, /) -> None:
        """Do both."""
        self._begin(tasks)
        self._handler(tasks, callback, on_failure)

    def close(self) -> None:
        """Close the handler."""
        self._handler.close()


def main(text: str) -> None:
    """Work until a signal says otherwise."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(threadName)s %(message)s")
    assignment = Assignment.load(text)
    engine = task_sql.create_engine(assignment.url)
    repository = task_sql.create_repository(engine, owner=assignment.owner)
    duty = Duty(assignment)
    threading.Thread(target=_hear, args=(duty,), daemon=True).start()
    manager = TaskManager(
        assignment.topic,
        repository,
        engine.begin,
        duty,
        size=assignment.size,
        claim=assignment.claim,
        ahead=assignment.ahead,
        pause=assignment.span(assignment.pause),
        listener=duty,
    )
    worker = Worker(
        repository,
        engine.begin,
        [manager],
        heartbeat=assignment.span(assignment.heartbeat),
        expiry=assignment.span(assignment.expiry),
        grace=assignment.span(assignment.grace),
        notifier=task_sql.create_notifier(engine) if assignment.notified else None,
    )
    worker.run()
    engine.dispose()


def _hear(duty: Duty) -> None:
    for _ in sys.stdin:
        duty.go.set()
    os._exit(99)

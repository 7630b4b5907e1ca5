"""What most tests of state machines need."""

from __future__ import annotations

import asyncio
import json
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from task_api import LostTaskError, TaskDecision, TaskStateError
from task_processor.machine.machine import StateMachine
from task_processor.machine.transition import Transition
from tests.processor.support import Recorder, running

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from task_api import Task, TaskInfo, TaskRepository
    from task_processor import TaskHandlerFactory
    from tests.backends import Backend, Transaction
    from tests.contention.member import Member

LEASE = timedelta(milliseconds=600)
BRIEF = timedelta(milliseconds=20)
LONG = timedelta(hours=1)


class Waiting:
    """Asynchronous work that ends only when it is cancelled."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.cancelled = threading.Event()

    async def __call__(self, *_: object) -> Transition:
        """Wait for ever."""
        self.begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return Transition.finish("never")


def stored(state: str, data: object = None, **more: object) -> str:
    """A task's input that says where its machine stands."""
    return json.dumps({"topiq.state": state, "data": data, **more})


def state_of(task: TaskInfo) -> tuple[str, Any]:
    """The state and the data that a task's input holds."""
    value = json.loads(task.input or "")
    assert value.keys() == {"topiq.state", "data"}, task.input
    return value["topiq.state"], value["data"]


def finish(_: Task, data: object) -> Transition:
    """End with what was given."""
    return Transition.finish(json.dumps(data))


def run_through(
    backend: Backend, repository: TaskRepository[Any], factory: TaskHandlerFactory, **options: Any
) -> Recorder:
    """Work until nothing is READY, and return what was heard."""
    recorder = Recorder()
    with running(backend, repository, factory, listener=recorder, **options):
        recorder.wait("empty")
    return recorder


def come_back(backend: Backend, repository: TaskRepository[Any], topic: str, task: Task) -> None:
    """Have a waiting task due at once, so that no test waits for time to pass."""
    backend.sql("UPDATE task SET due = polled WHERE sequence = :sequence", sequence=task.sequence)
    with backend.begin() as tx:
        assert repository.promote(tx, topic) == 1


def machine_threads() -> list[str]:
    """The threads of state machines that are there."""
    kinds = ("task-machine", "task-watch")
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(kinds)]


def finish_by_work(member: Member, *, topic: str, tasks: Sequence[Task]) -> list[bool]:
    """Complete one task after the other, which somebody else tells at the same moment; tell which were won."""

    def end(tx: Transaction, task: Task) -> None:
        member.repository.complete(tx, topic, task, TaskDecision.success("work"))

    return _contest(member, tasks, end)


def finish_by_callback(member: Member, *, topic: str, tasks: Sequence[Task]) -> list[bool]:
    """Tell one task after the other to finish, which its worker completes at the same moment; tell which were won."""
    machine = StateMachine("only")

    def end(tx: Transaction, task: Task) -> None:
        machine.tell(member.repository, tx, topic, task, Transition.finish("callback"))

    return _contest(member, tasks, end)


def _contest(member: Member, tasks: Sequence[Task], end: Callable[[Transaction, Task], None]) -> list[bool]:
    won = []
    for task in tasks:
        member.meet()
        try:
            with member.begin() as tx:
                end(tx, task)
        except (LostTaskError, TaskStateError):
            won.append(False)
        else:
            won.append(True)
    return won

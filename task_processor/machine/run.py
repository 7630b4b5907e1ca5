"""Takes one task through the states of a machine."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Generic, TypeVar

from task_api import InvalidTaskError, LostTaskError, Task, TaskDecision, TaskRepository, TaskResult

from ..dispatcher import TaskDispatcher
from ..handler import UnavailableError
from ..listener import LOGGER
from ..retry import RetryPolicy
from .state import MachineState
from .transition import Transition
from .watch import Watched
from .work import StateWork

__all__ = ["Binding", "End", "Executors", "MachineRun", "unknown_state"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Binding(Generic[T]):
    """A machine's states, and where their tasks are."""

    topic: str
    """The topic of all tasks."""
    initial: str
    """Where tasks begin."""
    states: Mapping[str, StateWork]
    """What is done in each state."""
    repository: TaskRepository[T]
    """Where states are stored."""
    dispatcher: TaskDispatcher[T]
    """Where transactions come from."""
    interval: timedelta
    """How often to look whether tasks are still held."""
    concurrency: int
    """How many tasks to work on at once."""
    postpone: timedelta
    """How long a task waits that can't be worked on at present."""
    retry: RetryPolicy | None
    """What becomes of work that raises."""

    @property
    def pace(self) -> timedelta:
        """How often to look, so that the shortest lease is extended in time."""
        return min([self.interval, *(work.lease / 3 for work in self.states.values() if work.lease is not None)])

    def store(self, tx: T, task: Task, state: MachineState | None, lease: timedelta | None = None) -> None:
        """Store a state, if it is another one, and extend the lease, if there is one."""
        if state is not None:
            self.repository.checkpoint(tx, self.topic, task, state.text)
        if lease is not None:
            self.repository.extend(tx, self.topic, [task], lease)


@dataclass(frozen=True, slots=True)
class Executors:
    """Where is done what would block an event loop."""

    plain: Executor
    """Plain functions."""
    storing: Executor
    """Transactions."""
    lent: Executor | None = None
    """Plain functions, if there is one."""


@dataclass(frozen=True, slots=True)
class End:
    """What becomes of a task, and the state to store with that, if it is another one."""

    decision: TaskDecision
    state: MachineState | None = None


class MachineRun(Generic[T]):
    """One task from its poll to its decision."""

    def __init__(self, binding: Binding[T], watched: Watched, executors: Executors) -> None:
        self._binding = binding
        self._watched = watched
        self._executors = executors

    async def run(self) -> End | None:
        """Take the task as far as it goes; None if it was lost."""
        binding, watched = self._binding, self._watched
        try:
            state = MachineState.read(watched.task.input, binding.initial)
        except InvalidTaskError as error:
            return End(TaskDecision.failure(error))
        if state.state not in binding.states:
            return self._postponed(f"state {state.state!r} is not known to this version of the code")
        await self._enter(state, None)
        while not watched.lost:
            work = binding.states[state.state]
            outcome = await work.perform(watched.task, state.value, self._executors.plain, self._executors.lent)
            following = self._following(state, outcome)
            if isinstance(following, End):
                return following
            state = following
            if not await self._enter(state, state):
                # It is stored with the decision then, when the database is back.
                return End(TaskDecision.suspension("the state could not be stored at once", timedelta()), state)
        return None

    def _following(self, state: MachineState, outcome: Transition | BaseException) -> MachineState | End:
        if isinstance(outcome, BaseException):
            return self._failed(state, outcome)
        if outcome.decision is None and outcome.state not in self._binding.states:
            return self._failed(state, unknown_state(outcome.state, self._binding.states))
        data = outcome.data
        if outcome.decision is not None:
            return End(outcome.decision, state.cleared if data is None else MachineState(state.state, data))
        return MachineState(str(outcome.state), str(data))

    def _failed(self, state: MachineState, error: BaseException) -> End:
        if isinstance(error, UnavailableError):
            return self._postponed(str(error))
        decision, retry = TaskDecision.of(error), self._binding.retry
        if retry is not None:
            # Those of this state alone: it may have waited, or gone on, many times before.
            decision = retry.apply(replace(self._watched.task, attempt=state.failures + 1), decision)
            if decision.result is TaskResult.FAILURE and decision.due is not None:
                return End(decision, replace(state, failures=state.failures + 1))
        return End(decision, state.cleared)

    def _postponed(self, reason: str) -> End:
        binding = self._binding
        LOGGER.warning(
            "topic %r: task %s waits for %s: %s", binding.topic, self._watched.task, binding.postpone, reason
        )
        return End(TaskDecision.suspension(reason, binding.postpone))

    async def _enter(self, state: MachineState, stored: MachineState | None) -> bool:
        """Begin a state: store it unless it is, and begin its lease; tell whether that worked."""
        watched = self._watched
        # Without a lease of its own a state goes on under the one before: a claim can't lose its end.
        lease = self._binding.states[state.state].lease or watched.lease
        if stored is None and lease is None:
            return True
        # Said before it begins, so that the lease of the state before is not extended after that.
        watched.lease = lease
        error = await self._in_transaction(lambda tx: self._binding.store(tx, watched.task, stored, lease))
        if isinstance(error, LostTaskError):
            watched.task.hold.lose()
        elif error is not None:
            LOGGER.warning("topic %r: task %s: %r", self._binding.topic, watched.task, error)
            return False
        else:
            watched.extended()
        return True

    async def _in_transaction(self, call: Callable[[T], None]) -> BaseException | None:
        """Do something in a transaction of its own, and return what went wrong."""
        return await asyncio.wrap_future(self._executors.storing.submit(self._transact, call))

    def _transact(self, call: Callable[[T], None]) -> BaseException | None:
        try:
            with self._binding.dispatcher() as tx:
                call(tx)
        except BaseException as error:  # noqa: BLE001 - judged by the caller
            return error
        return None


def unknown_state(state: str | None, states: Collection[str]) -> InvalidTaskError:
    """Say that a machine has no such state."""
    return InvalidTaskError(f"there is no state {state!r} in this machine; its states: {', '.join(map(repr, states))}")

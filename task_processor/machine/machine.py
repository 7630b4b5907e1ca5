"""Work that goes from state to state, waits, and can be told from outside how to go on."""

from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from task_api import InvalidTaskError, Task, TaskRef, TaskRepository, TaskState

from ..deadline import checked_duration
from ..dispatcher import TaskDispatcher
from ..handler import TaskHandler, TaskHandlerFactory
from ..number import checked_number
from ..retry import RetryPolicy
from ..savepoint import savepoint
from .handler import MachineHandler
from .run import Binding, unknown_state
from .state import MachineState, checked_state
from .transition import Transition
from .work import StateFunction, StateWork

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["StateMachine"]

T = TypeVar("T")

_OPEN: Final = frozenset({TaskState.ACTIVE, TaskState.READY, TaskState.EXPIRED, TaskState.FAILED, TaskState.SUSPENDED})
_SECOND: Final = timedelta(seconds=1)


class StateMachine:
    """
    Takes tasks from state to state, each with a function of its own. Immutable: adding a state returns a new machine.

    A task's first input is the data of the initial state, as JSON; what is no JSON is a text, and no input is None.

    Args:
        initial: The state that tasks begin with.

    """

    def __init__(self, initial: str) -> None:
        self._initial = checked_state(initial)
        self._states: Mapping[str, StateWork] = MappingProxyType({})

    @property
    def initial(self) -> str:
        """The state that tasks begin with."""
        return self._initial

    @property
    def states(self) -> tuple[str, ...]:
        """The states that have a function."""
        return tuple(self._states)

    def on(self, state: str, fn: StateFunction, lease: timedelta | None = None) -> "StateMachine":
        """
        Add a state.

        Args:
            state: Its name.
            fn: ``fn(task, data)``, plain or ``async def``; it returns a `Transition`.
            lease: How long a claim lasts at most; extended as long as the work goes on, so that it ends only when the
                process is gone. Without one the claim goes on as before.

        """
        work = StateWork(checked_state(state), fn, lease)
        if state in self._states:
            message = f"there is a state {state!r} already"
            raise InvalidTaskError(message)
        machine = StateMachine(self._initial)
        machine._states = MappingProxyType({**self._states, state: work})
        return machine

    def bind(
        self,
        repository: TaskRepository[T],
        dispatcher: TaskDispatcher[T],
        *,
        concurrency: int = 10,
        interval: timedelta = _SECOND,
        postpone: timedelta = 30 * _SECOND,
        retry: RetryPolicy | None = None,
    ) -> TaskHandlerFactory:
        """
        Make a handler factory for a `TaskManager` of the same repository.

        Args:
            repository: Where states are stored.
            dispatcher: Where transactions come from.
            concurrency: How many tasks to work on at once, each polled and decided by itself. Plain functions take
                turns, unless the manager has an executor.
            interval: How often to look whether a task that is worked on was taken over; leases are extended then.
            postpone: How long a task waits whose state this machine does not know, or whose work raised
                `UnavailableError`.
            retry: What becomes of work that raises. It counts the failures of one state in a row; the manager's policy,
                which applies otherwise, counts polls.

        """
        if self._initial not in self._states:
            message = f"the initial state {self._initial!r} has no function; add it with on({self._initial!r}, fn)"
            raise InvalidTaskError(message)
        checked_number("concurrency", concurrency)
        checked_duration("interval", interval)
        checked_duration("postpone", postpone)

        def make(topic: str) -> TaskHandler:
            binding = Binding(
                topic,
                self._initial,
                self._states,
                repository,
                dispatcher,
                interval=interval,
                concurrency=concurrency,
                postpone=postpone,
                retry=retry,
            )
            return MachineHandler(binding)

        return make

    def tell(
        self, repository: TaskRepository[T], tx: T, topic: str, task: Task | TaskRef | int, transition: Transition
    ) -> None:
        """
        Decide from outside how a task goes on, in the caller's transaction, whoever works on it.

        The task is taken over: work that is under way is cancelled, and what comes of it dropped. To another state, it
        is READY in that state. Of two that tell one task, or of one that tells it and its worker that ends it, exactly
        one wins.

        Args:
            repository: Where the task is; its owner must be registered.
            tx: The caller's transaction.
            topic: The task's topic.
            task: The task, a reference to it, or its sequence.
            transition: How it goes on.

        Raises:
            TaskStateError: the task is missing, or has ended well, was recreated or made redundant.
            UnknownOwnerError: the owner is not registered.
            InvalidTaskError: this machine has no such state.

        """
        if not isinstance(transition, Transition):
            message = f"a machine is told a Transition, not {type(transition).__name__}"
            raise InvalidTaskError(message)
        if transition.decision is None and transition.state not in self._states:
            raise unknown_state(transition.state, self._states)
        if not isinstance(task, Task):
            task = Task(task.sequence if isinstance(task, TaskRef) else task, "?")
        with savepoint(tx):
            held = repository.eject(tx, topic, task, states=_OPEN)
            if transition.data is not None:
                state = transition.state or MachineState.read(held.input, self._initial).state
                repository.checkpoint(tx, topic, held, MachineState(state, transition.data).text)
            if transition.decision is not None:
                repository.complete(tx, topic, held, transition.decision)
            else:
                repository.release(tx, topic, [held])

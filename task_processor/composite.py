"""Work in several steps."""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextvars import copy_context
from typing import TypeAlias

from task_api import InvalidTaskError, Task, TaskDecision

from .chain import Chain
from .closing import OnClose
from .context import Decisions, TaskContext, merged, settled
from .event_loop import EventLoopThread
from .handler import Callback, OnFailure, ShutdownError, TaskHandler
from .listener import LOGGER
from .number import checked_number
from .steps import Mode, Step, StepDecorator, StepFunction
from .supplement import TaskSupplement
from .threads import DaemonExecutor

__all__ = ["CompositeTaskHandlerFactory", "ContextFactory"]

ContextFactory: TypeAlias = Callable[[str, Sequence[Task]], TaskContext]
"""Makes the context of a batch from its topic and tasks."""


class CompositeTaskHandlerFactory:
    """
    Makes handlers that take each batch through steps. Immutable: adding a step returns a new factory.

    A step begins when those that it comes after are done, beside others that may run by then. It sees only tasks
    that still continue: a task that failed, was filtered or suspended is left out, unless its decision says that it
    goes on. In the end the decisions of all steps are merged, the worst result counting.

    Args:
        executor: Where the steps run: threads, processes or a cluster's; by default threads of the handler's own.
            Coroutines run on an event loop of the handler's own.
        concurrency: How many batches may be unfinished when the next one is polled. With 0 each batch is finished
            before the next poll.
        context: Makes the context of a batch from topic and tasks.
        on_close: What becomes of unfinished batches when the handler is closed.
        decorators: Wrap the function of every step, by topic and step.

    """

    def __init__(
        self,
        *,
        executor: Executor | None = None,
        concurrency: int = 1,
        context: ContextFactory = lambda _topic, _tasks: TaskContext(),
        on_close: OnClose = OnClose.FINISH_PENDING,
        decorators: Iterable[StepDecorator] = (),
    ) -> None:
        self._executor = executor
        self._concurrency = checked_number("concurrency", concurrency, 0)
        self._context = context
        self._on_close = on_close
        self._decorators = tuple(decorators)
        self._steps: tuple[Step, ...] = ()

    def each(
        self, name: str, fn: StepFunction, after: str | Iterable[str] = (), mode: Mode = Mode.PARALLEL
    ) -> "CompositeTaskHandlerFactory":
        """Add a step that works on one task; it decides that task as in `task_processor.each`."""
        return self._with(Step.of(name, fn, after, mode))

    def batch(self, name: str, fn: StepFunction, after: str | Iterable[str] = ()) -> "CompositeTaskHandlerFactory":
        """Add a step that works on all tasks that continue; it decides them as in `task_processor.batch`."""
        return self._with(Step.of(name, fn, after, None))

    def __call__(self, topic: str) -> TaskHandler:
        """Make the handler of a topic."""
        steps = [step.decorated(topic, self._decorators) for step in self._steps]
        return _CompositeHandler(
            topic,
            steps,
            executor=self._executor,
            concurrency=self._concurrency,
            context=self._context,
            on_close=self._on_close,
        )

    def _with(self, step: Step) -> "CompositeTaskHandlerFactory":
        known = {known.name for known in self._steps}
        if step.name in known:
            message = f"there is a step {step.name!r} already"
            raise InvalidTaskError(message)
        if unknown := [name for name in step.after if name not in known]:
            message = f"step {step.name!r} comes after unknown steps: {', '.join(map(repr, unknown))}"
            raise InvalidTaskError(message)
        factory = CompositeTaskHandlerFactory(
            executor=self._executor,
            concurrency=self._concurrency,
            context=self._context,
            on_close=self._on_close,
            decorators=self._decorators,
        )
        factory._steps = (*self._steps, step)
        return factory


class _CompositeHandler:
    def __init__(
        self,
        topic: str,
        steps: Sequence[Step],
        *,
        executor: Executor | None,
        concurrency: int,
        context: ContextFactory,
        on_close: OnClose,
    ) -> None:
        self._topic = topic
        self._steps = steps
        self._own = None if executor else DaemonExecutor(f"task-step-{topic}")
        self._executor: Executor = executor or self._own  # type: ignore[assignment]
        self._loop = EventLoopThread(f"task-event-loop-{topic}")
        self._concurrency = concurrency
        self._followers = DaemonExecutor(f"task-composite-{topic}", concurrency + 1)
        self._context = context
        self._on_close = on_close
        self._changed = threading.Condition()
        self._chains: set[Chain] = set()
        self._closing = False

    def __call__(self, tasks: Sequence[Task], callback: Callback, on_failure: OnFailure, /) -> None:
        context = self._context(self._topic, tasks)
        supplement = TaskSupplement(context)
        chain = Chain(self._steps, tasks, supplement, self._executor, self._loop)
        with self._changed:
            if self._closing:
                message = f"topic {self._topic!r}: the handler is closed"
                raise ShutdownError(message)
            self._chains.add(chain)
        try:
            follow = copy_context().run
            self._followers.submit(follow, self._follow, chain, context, supplement, callback, on_failure)
        except BaseException:
            # Nobody follows it, so nobody would end the wait for it.
            self._forget(chain)
            raise
        with self._changed:
            self._changed.wait_for(lambda: len(self._chains) <= self._concurrency)

    def use_executor(self, executor: Executor) -> None:
        if self._executor is self._own:
            self._executor = executor

    def close(self) -> None:
        with self._changed:
            self._closing = True
            if self._on_close is OnClose.FAIL_PENDING:
                for chain in self._chains:
                    chain.cancel()
            self._changed.wait_for(lambda: not self._chains)
        self._followers.shutdown()
        self._loop.close()
        if self._own is not None:
            self._own.shutdown()

    def _follow(
        self,
        chain: Chain,
        context: TaskContext,
        supplement: TaskSupplement,
        callback: Callback,
        on_failure: OnFailure,
    ) -> None:
        try:
            decisions = chain.run()
            completion = settled(context.complete(decisions, self._executor, supplement))
            if callback(lambda tx: _complete(tx, completion, decisions)):
                self._after(context, supplement)
        except BaseException as error:  # noqa: BLE001 - the batch fails with it
            on_failure(error)
        finally:
            self._forget(chain)

    def _forget(self, chain: Chain) -> None:
        with self._changed:
            self._chains.discard(chain)
            self._changed.notify_all()

    def _after(self, context: TaskContext, supplement: TaskSupplement) -> None:
        try:
            settled(context.after_transaction(self._executor, supplement))
        except BaseException:  # noqa: BLE001 - logged; the decisions stand
            LOGGER.exception("topic %r: a context raised after its transaction", self._topic)


def _complete(
    tx: object, completion: Callable[[object], Decisions | None], decisions: Decisions
) -> dict[Task, TaskDecision]:
    return merged(decisions, None if completion is None else completion(tx))

"""Poll loops, handlers and the worker runtime on top of ``task_api``."""

from task_api import ProcessorNotifier

from .buffering import Baggage, BufferingTaskHandlerFactory, QueueObserver
from .closing import OnClose
from .composite import CompositeTaskHandlerFactory, ContextFactory
from .consumer import CreationPostprocessor, TaskConsumerContext, tagging
from .context import CompositeTaskContext, ContextCompletion, TaskContext
from .detached.checkpoint import Checkpoint
from .detached.claim import StopRequestedError
from .detached.exit import DetachedExit
from .detached.factory import DetachedError, DetachedTaskHandlerFactory
from .detached.folder import DetachedFolder, DetachedProcess
from .dispatcher import TaskDispatcher
from .duplicates import DuplicateFilter
from .executors import RenewingExecutor
from .functions import batch, each
from .handler import (
    Callback,
    Completion,
    HandedOverError,
    OnFailure,
    ShutdownError,
    TaskHandler,
    TaskHandlerFactory,
    UnavailableError,
)
from .health import WorkerHealth
from .limiter import TaskLimiter, TaskToken
from .listener import TaskListener
from .machine.machine import StateMachine
from .machine.task import HeldTask
from .machine.transition import Transition
from .manager import TaskManager
from .partial import partial_batch
from .persistent import PersistentTaskProcessor
from .processor import TaskProcessor
from .retry import RetryPolicy
from .savepoint import savepoint
from .slots.slot import SlotCoverage, TimeSlot
from .slots.slots import TimeSlots
from .statistics import TopicStatistics
from .steps import Mode, StepDecorator, StepFunction
from .supplement import TaskSupplement
from .worker import Worker

__all__ = [
    "Baggage",
    "BufferingTaskHandlerFactory",
    "Callback",
    "Checkpoint",
    "Completion",
    "CompositeTaskContext",
    "CompositeTaskHandlerFactory",
    "ContextCompletion",
    "ContextFactory",
    "CreationPostprocessor",
    "DetachedError",
    "DetachedExit",
    "DetachedFolder",
    "DetachedProcess",
    "DetachedTaskHandlerFactory",
    "DuplicateFilter",
    "HandedOverError",
    "HeldTask",
    "Mode",
    "OnClose",
    "OnFailure",
    "PersistentTaskProcessor",
    "ProcessorNotifier",
    "QueueObserver",
    "RenewingExecutor",
    "RetryPolicy",
    "ShutdownError",
    "SlotCoverage",
    "StateMachine",
    "StepDecorator",
    "StepFunction",
    "StopRequestedError",
    "TaskConsumerContext",
    "TaskContext",
    "TaskDispatcher",
    "TaskHandler",
    "TaskHandlerFactory",
    "TaskLimiter",
    "TaskListener",
    "TaskManager",
    "TaskProcessor",
    "TaskSupplement",
    "TaskToken",
    "TimeSlot",
    "TimeSlots",
    "TopicStatistics",
    "Transition",
    "UnavailableError",
    "Worker",
    "WorkerHealth",
    "batch",
    "each",
    "partial_batch",
    "savepoint",
    "tagging",
]

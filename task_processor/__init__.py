"""Poll loops, handlers and the worker runtime on top of ``task_api``."""

from task_api import ProcessorNotifier

from .buffering import Baggage, BufferingTaskHandlerFactory, QueueObserver
from .closing import OnClose
from .composite import CompositeTaskHandlerFactory, ContextFactory
from .consumer import CreationPostprocessor, TaskConsumerContext, tagging
from .context import CompositeTaskContext, ContextCompletion, TaskContext
from .dispatcher import TaskDispatcher
from .duplicates import DuplicateFilter
from .executors import RenewingExecutor
from .functions import batch, each
from .handler import (
    Callback,
    Completion,
    OnFailure,
    ShutdownError,
    TaskHandler,
    TaskHandlerFactory,
    UnavailableError,
)
from .health import WorkerHealth
from .limiter import TaskLimiter, TaskToken
from .listener import TaskListener
from .manager import TaskManager
from .partial import partial_batch
from .persistent import PersistentTaskProcessor
from .processor import TaskProcessor
from .retry import RetryPolicy
from .savepoint import savepoint
from .statistics import TopicStatistics
from .steps import Mode, StepDecorator, StepFunction
from .supplement import TaskSupplement
from .worker import Worker

__all__ = [
    "Baggage",
    "BufferingTaskHandlerFactory",
    "Callback",
    "Completion",
    "CompositeTaskContext",
    "CompositeTaskHandlerFactory",
    "ContextCompletion",
    "ContextFactory",
    "CreationPostprocessor",
    "DuplicateFilter",
    "Mode",
    "OnClose",
    "OnFailure",
    "PersistentTaskProcessor",
    "ProcessorNotifier",
    "QueueObserver",
    "RenewingExecutor",
    "RetryPolicy",
    "ShutdownError",
    "StepDecorator",
    "StepFunction",
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
    "TopicStatistics",
    "UnavailableError",
    "Worker",
    "WorkerHealth",
    "batch",
    "each",
    "partial_batch",
    "savepoint",
    "tagging",
]

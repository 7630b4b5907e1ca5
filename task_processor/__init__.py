"""Poll loops, handlers and the worker runtime on top of ``task_api``."""

from .buffering import Baggage, BufferingTaskHandlerFactory, QueueObserver
from .closing import OnClose
from .composite import CompositeTaskHandlerFactory, ContextFactory
from .consumer import CreationPostprocessor, TaskConsumerContext, tagging
from .context import CompositeTaskContext, ContextCompletion, TaskContext
from .dispatcher import TaskDispatcher
from .duplicates import DuplicateFilter
from .functions import batch, each
from .handler import Callback, Completion, OnFailure, ShutdownError, TaskHandler, TaskHandlerFactory
from .limiter import TaskLimiter, TaskToken
from .listener import TaskListener
from .manager import TaskManager
from .partial import partial_batch
from .processor import TaskProcessor
from .retry import RetryPolicy
from .savepoint import savepoint
from .steps import Mode, StepDecorator, StepFunction
from .supplement import TaskSupplement

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
    "QueueObserver",
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
    "batch",
    "each",
    "partial_batch",
    "savepoint",
    "tagging",
]

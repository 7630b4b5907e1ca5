"""What topiq speaks: enums, values, protocols and errors. Standard library only."""

from .claim import Claim
from .decision import TaskDecision, combine_decisions, merge_decisions
from .errors import (
    InvalidTaskError,
    LostTaskError,
    SchemaError,
    TaskError,
    TaskResultError,
    TaskStateError,
    UnknownOwnerError,
    UnknownTopicError,
)
from .juncture import Junction, TaskJuncture
from .listing import Counting, Direction, Listing, Snapshot, Summary
from .notifier import NOTIFIER_PATIENCE, Notifiable, ProcessorNotifier
from .repository import TaskRepository
from .reviver import Revivification, TaskReviver
from .sink import Insertion, TaskSink
from .source import Condition, Order, TaskSource
from .state import FINISHED, REVIVABLE, TaskResult, TaskState
from .task import (
    IDENTIFIER_LENGTH,
    INCEPTION,
    MAX_SEQUENCE,
    OWNER_LENGTH,
    REFERENCE_LENGTH,
    TOPIC_LENGTH,
    Task,
    TaskCreation,
    TaskInfo,
)

__all__ = [
    "FINISHED",
    "IDENTIFIER_LENGTH",
    "INCEPTION",
    "MAX_SEQUENCE",
    "NOTIFIER_PATIENCE",
    "OWNER_LENGTH",
    "REFERENCE_LENGTH",
    "REVIVABLE",
    "TOPIC_LENGTH",
    "Claim",
    "Condition",
    "Counting",
    "Direction",
    "Insertion",
    "InvalidTaskError",
    "Junction",
    "Listing",
    "LostTaskError",
    "Notifiable",
    "Order",
    "ProcessorNotifier",
    "Revivification",
    "SchemaError",
    "Snapshot",
    "Summary",
    "Task",
    "TaskCreation",
    "TaskDecision",
    "TaskError",
    "TaskInfo",
    "TaskJuncture",
    "TaskRepository",
    "TaskResult",
    "TaskResultError",
    "TaskReviver",
    "TaskSink",
    "TaskSource",
    "TaskState",
    "TaskStateError",
    "UnknownOwnerError",
    "UnknownTopicError",
    "combine_decisions",
    "merge_decisions",
]

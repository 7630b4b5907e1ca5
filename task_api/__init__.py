"""What topiq speaks: enums, values, protocols and errors. Standard library only."""

from .claim import Claim
from .decision import TaskDecision, combine_decisions, merge_decisions
from .dependency import Dependency, NamedTask, TaskDependencies
from .errors import (
    AccessError,
    DependencyCycleError,
    InvalidTaskError,
    LostTaskError,
    SchemaError,
    TaskError,
    TaskResultError,
    TaskStateError,
    UnknownOwnerError,
    UnknownTopicError,
)
from .graph import GraphItem, TaskGraph, chain, chord, group
from .juncture import Junction, TaskJuncture
from .listing import Counting, Direction, Listing, Snapshot, Summary
from .notifier import NOTIFIER_PATIENCE, Notifiable, ProcessorNotifier
from .ref import OnAbort, TaskRef
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
    "AccessError",
    "Claim",
    "Condition",
    "Counting",
    "Dependency",
    "DependencyCycleError",
    "Direction",
    "GraphItem",
    "Insertion",
    "InvalidTaskError",
    "Junction",
    "Listing",
    "LostTaskError",
    "NamedTask",
    "Notifiable",
    "OnAbort",
    "Order",
    "ProcessorNotifier",
    "Revivification",
    "SchemaError",
    "Snapshot",
    "Summary",
    "Task",
    "TaskCreation",
    "TaskDecision",
    "TaskDependencies",
    "TaskError",
    "TaskGraph",
    "TaskInfo",
    "TaskJuncture",
    "TaskRef",
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
    "chain",
    "chord",
    "combine_decisions",
    "group",
    "merge_decisions",
]

"""The values that go in and out of a repository."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import MAXYEAR, MINYEAR, datetime, timedelta
from functools import total_ordering
from typing import Final, Self, cast

from .claim import Claim
from .errors import InvalidTaskError
from .ref import OnAbort, TaskRef
from .state import TaskState

__all__ = [
    "IDENTIFIER_LENGTH",
    "INCEPTION",
    "MAX_SEQUENCE",
    "OWNER_LENGTH",
    "REFERENCE_LENGTH",
    "SPAN",
    "TOPIC_LENGTH",
    "Task",
    "TaskCreation",
    "TaskInfo",
    "checked_due",
    "checked_name",
    "checked_ref",
    "new_task",
    "present",
]

INCEPTION: Final = 0
"""Below every sequence."""
MAX_SEQUENCE: Final = 2**63 - 1
"""Above every sequence."""

TOPIC_LENGTH: Final = 250
IDENTIFIER_LENGTH: Final = 500
REFERENCE_LENGTH: Final = 500
OWNER_LENGTH: Final = 250

SPAN: Final = timedelta(days=365_000)
"""The longest time from now that every database can reckon with."""


def checked_name(kind: str, name: object, length: int) -> str:
    """Return the name if it can be stored, else say what is wrong with it."""
    if not isinstance(name, str):
        message = f"{kind} must be a str, not {type(name).__name__}"
        raise InvalidTaskError(message)
    if not name or name.isspace():
        message = f"{kind} must not be empty or blank"
        raise InvalidTaskError(message)
    if len(name) > length:
        message = f"{kind} of {len(name)} characters is too long; {length} are allowed: {name[:40]!r}..."
        raise InvalidTaskError(message)
    if not name.isascii() or not name.isprintable():
        _check_characters(kind, name)
    return name


def _check_characters(kind: str, name: str) -> None:
    if "\0" in name:
        message = f"{kind} must not hold a NUL character: {name!r}"
        raise InvalidTaskError(message)
    try:
        name.encode()
    except UnicodeEncodeError as error:
        message = f"{kind} must be valid Unicode, a lone surrogate is not: {name!r}"
        raise InvalidTaskError(message) from error


def present(text: object, kind: str) -> str | None:
    """Return the text, or None for one that is empty or blank: no database tells these apart for us."""
    if text is None:
        return None
    if not isinstance(text, str):
        message = f"{kind} must be a str or None, not {type(text).__name__}"
        raise InvalidTaskError(message)
    return None if not text or text.isspace() else text


def checked_due(due: object) -> datetime | timedelta | None:
    """Return a due time that means the same everywhere: from now, or at an aware moment."""
    if due is None:
        return None
    if isinstance(due, timedelta):
        if abs(due) > SPAN:
            message = f"due must lie within a thousand years from now: {due!r}"
            raise InvalidTaskError(message)
        return due
    if not isinstance(due, datetime):
        message = f"due must be an aware datetime or a timedelta, not {type(due).__name__}"
        raise InvalidTaskError(message)
    if due.utcoffset() is None:
        message = f"due must be an aware datetime, give it a time zone: {due!r}"
        raise InvalidTaskError(message)
    if not MINYEAR < due.year < MAXYEAR:
        message = f"due must lie between the years {MINYEAR + 1} and {MAXYEAR - 1}, for every time zone: {due!r}"
        raise InvalidTaskError(message)
    return due


@dataclass(frozen=True, slots=True, init=False)
class TaskCreation:
    """A task to be pushed. Equal when identifier and input are."""

    identifier: str
    """What the task is about; at most 500 characters. Insertion modes and conditions go by it."""
    input: str | None = None
    """What the work needs, of any length; blank counts as absent."""
    reference: str | None = field(default=None, compare=False)
    """A second name to list tasks by; at most 500 characters, blank counts as absent."""
    suspended: bool = field(default=False, compare=False)
    """Whether the task starts SUSPENDED, until a junction releases it."""
    due: datetime | timedelta | None = field(default=None, compare=False)
    """When the task becomes READY: an aware moment, or a time from now by the database's clock."""
    after: "tuple[TaskRef | Task, ...]" = field(default=(), compare=False)
    """The tasks that it waits for, SUSPENDED. One without a topic belongs to the topic that this one is pushed to."""
    on_abort: OnAbort = field(default=OnAbort.CASCADE, compare=False)
    """What becomes of it when one of those fails."""

    def __init__(  # noqa: PLR0917 - the fields
        self,
        identifier: str,
        input: str | None = None,  # noqa: A002 - the field
        reference: str | None = None,
        suspended: bool = False,  # noqa: FBT001, FBT002 - the field
        due: datetime | timedelta | None = None,
        after: "tuple[TaskRef | Task, ...]" = (),
        on_abort: OnAbort = OnAbort.CASCADE,
    ) -> None:
        # By the setters of the fields, since a frozen class would look each of them up by its name.
        _set_identifier(self, identifier)
        _set_input(self, input)
        _set_reference(self, reference)
        _set_suspended(self, suspended)
        _set_due(self, due)
        _set_after(self, after)
        _set_on_abort(self, on_abort)
        self.__post_init__()

    def __post_init__(self) -> None:
        checked_name("identifier", self.identifier, IDENTIFIER_LENGTH)
        if self.input is not None and present(self.input, "input") is None:
            object.__setattr__(self, "input", None)
        if self.reference is not None:
            if present(self.reference, "reference") is None:
                object.__setattr__(self, "reference", None)
            else:
                checked_name("reference", self.reference, REFERENCE_LENGTH)
        if not isinstance(self.suspended, bool):
            message = f"suspended must be True or False, not {self.suspended!r}"
            raise InvalidTaskError(message)
        if self.due is not None:
            checked_due(self.due)
        if self.after != ():
            object.__setattr__(self, "after", _checked_after(self.after))
        if not isinstance(self.on_abort, OnAbort):
            message = f"on_abort must be an OnAbort, not {self.on_abort!r}"
            raise InvalidTaskError(message)

    def with_input(self, input: str | None) -> Self:  # noqa: A002 - the field's own name
        """Return a copy with another input."""
        return replace(self, input=input)

    def with_reference(self, reference: str | None) -> Self:
        """Return a copy with another reference."""
        return replace(self, reference=reference)

    def with_suspended(self, suspended: bool = True) -> Self:  # noqa: FBT001, FBT002 - the field's own value
        """Return a copy that starts SUSPENDED, or not."""
        return replace(self, suspended=suspended)

    def with_due(self, due: datetime | timedelta | None) -> Self:
        """Return a copy with another due time."""
        return replace(self, due=due)

    def with_after(self, *after: "TaskRef | Task", on_abort: OnAbort | None = None) -> Self:
        """Return a copy that waits for other tasks."""
        return replace(self, after=after, on_abort=self.on_abort if on_abort is None else on_abort)


_set_identifier, _set_input, _set_reference, _set_suspended, _set_due, _set_after, _set_on_abort = (
    getattr(TaskCreation, each.name).__set__ for each in fields(TaskCreation)
)


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One task as its holder or producer knows it. Equal, hashed and sorted by sequence alone."""

    sequence: int
    """Its number, unique over all topics; the order of a topic."""
    identifier: str
    """What the task is about."""
    input: str | None = None
    """What the work needs."""
    attempt: int = 0
    """How many times it was tried, this time included."""
    token: int = 0
    """The number of this claim; only the holder of the latest one decides."""
    claim: Claim = Claim.COMMITTED
    """How it is held."""
    failed: int = 0
    """How many of the tasks that it waited for failed, where it runs nevertheless."""

    def __eq__(self, other: object) -> bool:
        return self.sequence == other.sequence if isinstance(other, Task) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self.sequence < other.sequence if isinstance(other, Task) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.sequence)

    def __str__(self) -> str:
        return f"{self.identifier} ({self.sequence})"


class _Draft:
    """A task while its fields are set: to set those of a frozen class takes three times as long."""

    __slots__ = Task.__slots__

    def __init__(  # noqa: PLR0917 - the fields
        self,
        sequence: int,
        identifier: str,
        input: str | None = None,  # noqa: A002 - the field
        attempt: int = 0,
        token: int = 0,
        claim: Claim = Claim.COMMITTED,
        failed: int = 0,
    ) -> None:
        self.sequence = sequence
        self.identifier = identifier
        self.input = input
        self.attempt = attempt
        self.token = token
        self.claim = claim
        self.failed = failed
        self.__class__ = Task  # type: ignore[assignment]


new_task: Final = cast("type[Task]", _Draft)
"""Makes a task as its class does; for those who make many."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaskInfo(Task):
    """Everything that is stored about a task, as an operator sees it. All times are UTC."""

    topic: str
    """The topic that it belongs to."""
    state: TaskState
    """Where it stands."""
    descent: TaskState = TaskState.READY
    """The highest state that it has left so far."""
    owner: str | None = None
    """Who claimed it last."""
    reference: str | None = None
    """The second name given at creation."""
    created: datetime
    """When it was pushed."""
    polled: datetime | None = None
    """When it was claimed last."""
    completed: datetime | None = None
    """When it was decided."""
    due: datetime | None = None
    """When a SUSPENDED task becomes READY by itself."""
    lease: datetime | None = None
    """When the present claim ends at the latest."""
    origin: int | None = None
    """The sequence of the task that this one was recreated from."""
    output: str | None = None
    """The message or trace of its decision."""


def checked_ref(ref: object, topic: str | None = None) -> TaskRef:
    """Return the name of a task; one that has no topic is taken to belong to the given one."""
    if isinstance(ref, TaskInfo | TaskRef):
        topic = ref.topic
    elif not isinstance(ref, Task) or topic is None:
        message = f"a task is named by a TaskRef or a TaskInfo, not by {type(ref).__name__}"
        raise InvalidTaskError(message)
    checked_name("topic", topic, TOPIC_LENGTH)
    sequence = ref.sequence
    if not isinstance(sequence, int) or isinstance(sequence, bool) or not 0 <= sequence <= MAX_SEQUENCE:
        message = f"a task's sequence is the number that a push gave it, not {repr(sequence)[:40]}"
        raise InvalidTaskError(message)
    return TaskRef(topic, sequence)


def _checked_after(after: object) -> tuple[TaskRef | Task, ...]:
    if isinstance(after, str) or not isinstance(after, Iterable):
        message = f"after must be the tasks to wait for, in a tuple, not {type(after).__name__}"
        raise InvalidTaskError(message)
    refs = tuple(after)
    for ref in refs:
        if not isinstance(ref, TaskRef | Task):
            message = f"after must be TaskRef, TaskInfo or Task, not {type(ref).__name__}"
            raise InvalidTaskError(message)
    return refs

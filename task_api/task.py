"""The values that go in and out of a repository."""

from dataclasses import dataclass, field, replace
from datetime import MAXYEAR, MINYEAR, datetime, timedelta
from functools import total_ordering
from typing import Final, Self

from .claim import Claim
from .errors import InvalidTaskError
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


@dataclass(frozen=True, slots=True)
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

    def __post_init__(self) -> None:
        checked_name("identifier", self.identifier, IDENTIFIER_LENGTH)
        object.__setattr__(self, "input", present(self.input, "input"))
        reference = present(self.reference, "reference")
        if reference is not None:
            checked_name("reference", reference, REFERENCE_LENGTH)
        object.__setattr__(self, "reference", reference)
        if not isinstance(self.suspended, bool):
            message = f"suspended must be True or False, not {self.suspended!r}"
            raise InvalidTaskError(message)
        checked_due(self.due)

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

    def __eq__(self, other: object) -> bool:
        return self.sequence == other.sequence if isinstance(other, Task) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self.sequence < other.sequence if isinstance(other, Task) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.sequence)

    def __str__(self) -> str:
        return f"{self.identifier} ({self.sequence})"


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

"""How time is divided into slots, and the names that these have as tasks."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from task_api import InvalidTaskError

from .slot import TimeSlot

__all__ = ["DEFINITION", "EPOCH", "HIGHEST", "LOWEST", "SlotGrid", "identifier", "parse_identifier"]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Where slots begin unless told otherwise."""
LOWEST, HIGHEST = "0", ":"
"""The names of all slots begin with a digit, and lie between these."""
DEFINITION: Final = "~slots"
"""The name of the task that keeps how a topic is divided."""
_LENGTH: Final = len("1970-01-01T00:00:00.000000Z")


@dataclass(frozen=True, slots=True)
class SlotGrid:
    """Slots of one length, side by side, of which one begins at the origin."""

    interval: timedelta
    """How long a slot is."""
    origin: datetime
    """Where the first slot since 1970 begins."""

    @classmethod
    def of(cls, interval: timedelta, origin: datetime) -> Self:
        """Divide time; origins that lie whole intervals apart mean the same."""
        if not isinstance(interval, timedelta):
            message = f"interval must be a timedelta, not {type(interval).__name__}"
            raise InvalidTaskError(message)
        if interval <= timedelta():
            message = f"interval must be longer than nothing: {interval!r}"
            raise InvalidTaskError(message)
        try:
            return cls(interval, EPOCH + (_aware("origin", origin) - EPOCH) % interval)
        except OverflowError as error:
            message = f"interval must be shorter: {interval!r}"
            raise InvalidTaskError(message) from error

    @classmethod
    def read(cls, text: str | None) -> Self:
        """Read what `text` wrote."""
        try:
            stored = json.loads(text or "")
            return cls(timedelta(seconds=stored["interval"]), datetime.fromisoformat(stored["origin"]))
        except (KeyError, TypeError, ValueError) as error:
            message = f"the input of the task {DEFINITION!r} no longer says how its topic is divided: {text!r}"
            raise InvalidTaskError(message) from error

    @property
    def text(self) -> str:
        """The division as it is stored."""
        return json.dumps({"interval": self.interval.total_seconds(), "origin": self.origin.isoformat()})

    def __str__(self) -> str:
        return f"{self.interval} from {self.origin.isoformat()} on"

    def align(self, name: str, moment: datetime) -> datetime:
        """Return the beginning of the slot that a moment lies in."""
        moment = _aware(name, moment)
        try:
            return self.slot(moment - (moment - self.origin) % self.interval).start
        except OverflowError as error:
            message = f"{name} lies too far away for a slot of {self.interval}: {moment!r}"
            raise InvalidTaskError(message) from error

    def window(self, start: datetime, end: datetime) -> tuple[datetime, datetime]:
        """Return two bounds, aligned and in order."""
        first, last = self.align("start", start), self.align("end", end)
        if last < first:
            message = f"end must not lie before start: {end!r}, {start!r}"
            raise InvalidTaskError(message)
        return first, last

    def slot(self, start: datetime) -> TimeSlot:
        """Return the slot that begins there."""
        return TimeSlot(start, start + self.interval)

    def slots(self, first: datetime, last: datetime) -> Iterator[TimeSlot]:
        """Return the slots from an aligned bound on and before another."""
        return (self.slot(first + place * self.interval) for place in range((last - first) // self.interval))

    def aligned(self, moment: datetime) -> bool:
        """Tell whether a slot begins there."""
        return not (moment - self.origin) % self.interval


def identifier(start: datetime) -> str:
    """Return the name of the slot that begins there; names sort as the times do."""
    return start.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_identifier(text: str) -> datetime | None:
    """Return where the slot of that name begins, or None for what is no name of a slot."""
    if len(text) != _LENGTH or not text.endswith("Z"):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _aware(name: str, moment: object) -> datetime:
    if not isinstance(moment, datetime):
        message = f"{name} must be an aware datetime, not {type(moment).__name__}"
        raise InvalidTaskError(message)
    if moment.utcoffset() is None:
        message = f"{name} must be an aware datetime, give it a time zone: {moment!r}"
        raise InvalidTaskError(message)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        message = f"{name} has no time in UTC: {moment!r}"
        raise InvalidTaskError(message) from error

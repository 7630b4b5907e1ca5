"""Where a state machine goes next."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from task_api import TaskDecision

from .state import checked_state, written

__all__ = ["Transition"]


@dataclass(frozen=True, slots=True)
class Transition:
    """What the work of a state came to: another state, a wait in this one, or an end."""

    state: str | None = None
    """The state to go on with at once, if any."""
    data: str | None = None
    """The data of that state, or the new data of this one, as JSON."""
    decision: TaskDecision | None = None
    """What becomes of the task, unless it goes on at once."""

    def __post_init__(self) -> None:
        if self.state is not None and self.data is None and self.decision is None:
            object.__setattr__(self, "data", written(None))

    @classmethod
    def to(cls, state: str, data: Any = None) -> Self:  # noqa: ANN401 - whatever is JSON
        """Go on with another state, or once more with the same: stored at once, and worked on under the same claim."""
        return cls(checked_state(state), written(data))

    @classmethod
    def stay(cls, data: Any, check_after: datetime | timedelta | None = None) -> Self:  # noqa: ANN401
        """Wait in this state, with this data: until then, or without a time until somebody tells it to go on."""
        return cls(data=written(data), decision=TaskDecision.suspension(due=check_after))

    @classmethod
    def finish(cls, message: str | None = None) -> Self:
        """End well."""
        return cls(decision=TaskDecision.success(message))

    @classmethod
    def fail(cls, error: str | BaseException | None = None) -> Self:
        """End badly."""
        return cls(decision=TaskDecision.failure(error))

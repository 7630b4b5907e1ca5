"""Where a state machine stands, as its task's input holds it."""

import json
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from task_api import InvalidTaskError
from task_api.task import checked_name

__all__ = ["MachineState", "checked_state", "written"]

_LENGTH: Final = 250
_STATE: Final = "topiq.state"
_DATA: Final = "data"
_FAILURES: Final = "failures"
_SHAPES: Final = ({_STATE, _DATA}, {_STATE, _DATA, _FAILURES})


@dataclass(frozen=True, slots=True)
class MachineState:
    """
    A state and its data.

    It is stored as an object with exactly the keys "topiq.state" and "data", and "failures" where there were some.
    Any other input is the data of the initial state: as it is if it is JSON, and otherwise as a text.
    """

    state: str
    """The state."""
    data: str = "null"
    """Its data, as JSON."""
    failures: int = 0
    """How often its work failed in a row."""

    @classmethod
    def read(cls, text: str | None, initial: str) -> Self:
        """Read a task's input."""
        if text is None:
            return cls(initial)
        constants: list[str] = []
        try:
            value = json.loads(text, parse_constant=constants.append)
        except json.JSONDecodeError:
            return cls(initial, json.dumps(text))
        except (ValueError, RecursionError) as error:
            message = f"the input can't be read: {error}: {_excerpt(text)}"
            raise InvalidTaskError(message) from error
        if not isinstance(value, dict) or value.keys() not in _SHAPES:
            return cls(initial, json.dumps(text) if constants else text)
        if constants:
            message = f"the input is no stored state, {constants[0]} is not JSON: {_excerpt(text)}"
            raise InvalidTaskError(message)
        failures = value.get(_FAILURES, 0)
        if not isinstance(failures, int):
            message = f"the input is no stored state, its failures are no number: {_excerpt(text)}"
            raise InvalidTaskError(message)
        return cls(checked_state(value[_STATE]), written(value[_DATA]), failures)

    @property
    def text(self) -> str:
        """What is stored."""
        failures = f', "{_FAILURES}": {self.failures}' if self.failures else ""
        return f'{{"{_STATE}": {json.dumps(self.state)}, "{_DATA}": {self.data}{failures}}}'

    @property
    def cleared(self) -> "MachineState | None":
        """The same without failures, or None if there were none."""
        return replace(self, failures=0) if self.failures else None

    @property
    def value(self) -> Any:  # noqa: ANN401 - whatever is JSON
        """A copy of the data that is the reader's own."""
        return json.loads(self.data)


def checked_state(state: object) -> str:
    """Return the name of a state that can be stored."""
    return checked_name("state", state, _LENGTH)


def written(data: object) -> str:
    """Return data as JSON."""
    try:
        return json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the data of a state must be JSON: {error}"
        raise InvalidTaskError(message) from error


def _excerpt(text: str, length: int = 80) -> str:
    return repr(text if len(text) <= length else f"{text[:length]}...")

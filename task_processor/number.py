"""Numbers of things, as callers give them."""

from task_api import InvalidTaskError

__all__ = ["checked_number"]


def checked_number(name: str, value: object, least: int = 1) -> int:
    """Return a number of things that is large enough."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        message = f"{name} must be at least {least}, not {value!r}"
        raise InvalidTaskError(message)
    return value

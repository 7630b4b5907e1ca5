"""Whether a transaction ended with its connection, told by what connections of all drivers have in common."""

from collections.abc import Iterator
from typing import Final

__all__ = ["broken", "refused"]

_INVALID: Final = "8s2b"
"""SQLAlchemy's code for a transaction whose connection is gone."""
_REFUSALS: Final = frozenset({"OperationalError", "InterfaceError", "TimeoutError"})
"""What drivers, and pools without a free connection, call errors that are not the statement's."""
_LIMITS: Final = "54"
"""The class of SQLSTATEs for what is too large ever to be stored, which drivers call so too."""


def broken(tx: object, error: BaseException) -> bool:
    """Tell whether the connection of a transaction that is still open is gone."""
    if any(getattr(each, "connection_invalidated", False) or _code(each) == _INVALID for each in _chain(error)):
        return True
    if getattr(tx, "invalidated", False) is True or getattr(tx, "closed", False) is True:
        return True
    is_healthy = getattr(tx, "is_healthy", None)
    return callable(is_healthy) and not is_healthy()


def refused(error: BaseException) -> bool:
    """Tell whether a statement failed for a reason of the database's own, and not of what was to be stored."""
    if any(str(getattr(each, "sqlstate", "")).startswith(_LIMITS) for each in _chain(error)):
        return False
    return any(kind.__name__ in _REFUSALS for each in _chain(error) for kind in type(each).__mro__)


def _code(error: BaseException) -> object:
    return getattr(error, "code", None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__

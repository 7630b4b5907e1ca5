"""What reaches the driver."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.backends import Backend


@contextmanager
def sent(backend: Backend) -> Iterator[list[str]]:
    """The statements that the backend's engine sends meanwhile."""
    statements: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:  # noqa: ANN401 - as SQLAlchemy calls it
        statements.append(statement)

    event.listen(backend.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(backend.engine, "before_cursor_execute", note)

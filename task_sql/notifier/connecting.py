"""Connections of a notifier's own, made as an engine makes its own."""

from typing import TYPE_CHECKING, Any, Final, cast

from task_api import InvalidTaskError

from ..engine import create_engine

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.ext.asyncio import AsyncEngine

__all__ = ["own_connection", "synchronous"]

_DRIVERS: Final = {"postgresql": "postgresql+psycopg", "sqlite": "sqlite", "oracle": "oracle+oracledb"}


def synchronous(engine: "Engine | AsyncEngine") -> "Engine":
    """Return the engine, or for an asynchronous one an engine with the same URL and the driver's synchronous side."""
    known = cast("Engine", getattr(engine, "sync_engine", engine))
    if not hasattr(known, "pool"):
        kind = type(engine)
        message = f"a notifier needs a SQLAlchemy engine, not {kind.__module__}.{kind.__qualname__}"
        raise InvalidTaskError(message)
    if not known.dialect.is_async:
        return known
    from sqlalchemy.pool import NullPool

    return create_engine(known.url.set(drivername=_DRIVERS[known.dialect.name]), poolclass=NullPool)


def own_connection(engine: "Engine") -> Any:
    """
    Return a new connection of the driver that belongs to no pool, and that the caller closes.

    A pool like the engine's makes it, so that it gets the same arguments and events, and takes nobody's place.
    """
    pooled = engine.pool.recreate().connect()
    connection = pooled.driver_connection
    pooled.detach()
    return connection

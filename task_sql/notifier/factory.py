"""Which notifier fits what the caller has."""

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from ..registry import dialect_of
from .connecting import own_connection, synchronous
from .notifier import Notifier, checked_span
from .reporting import OnError

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.ext.asyncio import AsyncEngine

    from .feed import Source

__all__ = ["create_notifier"]

_PROBE: Final = timedelta(seconds=15)
_INTERVAL: Final = timedelta(milliseconds=10)


def create_notifier(
    engine: "Engine | AsyncEngine",
    *,
    probe: timedelta = _PROBE,
    interval: timedelta = _INTERVAL,
    on_error: OnError | None = None,
) -> Notifier:
    """
    Return the notifier for the engine's database.

    It holds one connection of its own, beside the engine's pool. Of an asynchronous engine it takes the URL alone.

    Args:
        engine: Where to listen. LISTEN needs a session of its own: behind a pooler that lends sessions for each
            transaction, give an engine with a direct URL.
        probe: How often a connection to a server is tested, and how long it has to answer, 5 seconds at least.
        interval: How often a SQLite file is looked at.
        on_error: Hears of errors of the processors, and of the connection once for each loss; by default they are
            logged.

    """
    probe = checked_span("probe", probe)
    interval = checked_span("interval", interval)
    direct = synchronous(engine)
    name = dialect_of(direct).name
    source: Source
    if name == "sqlite":
        from .sqlite import SqliteSource

        source = SqliteSource(direct, interval)
    elif name == "oracle":
        from .oracle import OracleSource

        source = OracleSource(partial(own_connection, direct), direct.dialect.loaded_dbapi, probe)
    else:
        from .postgresql import PostgresSource

        source = PostgresSource(direct, probe)
    return Notifier(source, on_error)

"""The database of a command: where it is, how it is read and written, and what is said when it is not there."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import exc

import task_sql
from task_api import InvalidTaskError, SchemaError, TaskError, UnknownTopicError
from task_sql.engine import create_reader

from . import queries
from .errors import Exit, Failure, other_schema, unknown_task, unknown_topic
from .redaction import one_line, redacted, scrubbed
from .urls import parsed_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy import URL, Connection, Engine

    from task_api import TaskInfo, TaskRepository

__all__ = ["Database", "answering"]

_CONNECT_SECONDS = 10
_EXTRAS = {"psycopg": "postgresql", "oracledb": "oracle"}
_BUSY = ("locked", "busy")
_NOT_OPENED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB)


class Database:
    """One database, known by its URL; connections are made when they are needed."""

    def __init__(self, url: URL) -> None:
        self.url = url
        """Where it is, secrets included."""
        self.engine: Engine = _engine(url)
        """Where connections come from."""
        self._reader: Engine = _engine(url, create_reader)
        self.repository: TaskRepository[Any] = task_sql.create_repository(self.engine)
        """The repository, of an owner that is not registered."""

    @classmethod
    @contextmanager
    def opened(cls, url: str | None, *, new: bool = False) -> Iterator[Database]:
        """
        Give the database at a URL, and turn errors that are no bugs into one line and an exit code.

        Args:
            url: The URL as the user gave it, if at all.
            new: Whether a SQLite file may be made by this.

        """
        parsed = parsed_url(url)
        with answering(parsed):
            database = cls(parsed)
            try:
                if not new:
                    _require_file(parsed)
                yield database
            finally:
                database.close()

    def close(self) -> None:
        """Close the connections that are open."""
        self.engine.dispose()
        self._reader.dispose()

    @property
    def name(self) -> str:
        """The database's kind, as SQLAlchemy spells it."""
        return self.engine.dialect.name

    def __str__(self) -> str:
        return redacted(self.url)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a transaction that only reads, waits for nobody and holds nobody up; the schema is one we speak."""
        with self.raw_read() as connection:
            self._require_schema(connection)
            yield connection

    @contextmanager
    def raw_read(self) -> Iterator[Connection]:
        """Give such a transaction whatever the schema."""
        with self._reader.connect() as connection:
            if self.name == "sqlite":
                # The driver begins nothing for who only looks, and each statement would see another moment.
                connection.execution_options(isolation_level="AUTOCOMMIT")
                connection.exec_driver_sql("BEGIN")
                try:
                    yield connection
                finally:
                    connection.exec_driver_sql("ROLLBACK")
                return
            if self.name == "postgresql":
                connection.execution_options(postgresql_readonly=True)
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a transaction that is committed at the end; the schema is one we speak."""
        with self.engine.begin() as connection:
            self._require_schema(connection)
            yield connection

    def require_topics(self, connection: Connection, *topics: str) -> None:
        """Complain about a topic that is not initialized."""
        known = self.repository.topics(connection)
        for topic in topics:
            if topic not in known:
                raise unknown_topic(topic, known)

    def tasks(self, connection: Connection, topic: str, sequences: Iterable[int]) -> list[TaskInfo]:
        """Return the tasks with these sequences, or complain about the first that is not in the topic."""
        found = []
        for sequence in dict.fromkeys(sequences):
            task = self.repository.task(connection, topic, sequence)
            if task is None:
                raise unknown_task(topic, sequence, queries.home(connection, sequence))
            found.append(task)
        return found

    def _require_schema(self, connection: Connection) -> None:
        present = task_sql.schema.version(connection)
        if present != task_sql.schema.VERSION:
            raise other_schema(present, task_sql.schema.VERSION)


@contextmanager
def answering(url: URL | None) -> Iterator[None]:
    """Turn errors that are no bugs into one line without secrets, and an exit code."""
    try:
        yield
    except UnknownTopicError as error:
        raise unknown_topic(error.topic) from error
    except SchemaError as error:
        raise Failure(_line(error, url), Exit.SCHEMA) from error
    except TaskError as error:
        wrong = isinstance(error, InvalidTaskError)
        raise Failure(_line(error, url), Exit.USAGE if wrong else Exit.FAILED) from error
    except exc.DBAPIError as error:
        raise _refused(error, url) from error
    except exc.SQLAlchemyError as error:
        raise Failure(_line(error, url)) from error


def _engine(url: URL, create: Callable[..., Engine] = task_sql.create_engine) -> Engine:
    options: dict[str, Any] = {}
    if url.get_backend_name() == "postgresql":
        wanted = {"connect_timeout": _CONNECT_SECONDS, "application_name": "topiq"}
        options["connect_args"] = {name: value for name, value in wanted.items() if name not in url.query}
    try:
        return create(url, **options)
    except ImportError as error:
        driver = error.name or str(error)
        extra = _EXTRAS.get(driver)
        remedy = f"; install it with: pip install 'topiq[{extra}]'" if extra else ""
        message = f"the driver {driver!r} for {url.get_backend_name()} is not installed{remedy}"
        raise Failure(message, Exit.UNREACHABLE) from error
    except (TypeError, ValueError) as error:  # as when the timeout is no number
        message = f"the URL's options can't be read: {_line(error, url)}"
        raise Failure(message, Exit.USAGE) from error


def _require_file(url: URL) -> None:
    """Complain about a SQLite file that is not there: to connect would make it."""
    if url.get_backend_name() != "sqlite" or url.database is None or url.database.startswith("file:"):
        return
    path = Path(url.database)
    if not path.parent.is_dir():
        message = f"there is no folder {path.parent}"
        raise Failure(message, Exit.UNREACHABLE)
    if not path.exists():
        message = f"there is no file {path}; `topiq schema install` makes it"
        raise Failure(message, Exit.UNREACHABLE)


def _refused(error: exc.DBAPIError, url: URL | None) -> Failure:
    text = _line(error.orig or error, url)
    where = "the database" if url is None else redacted(url)
    closed = getattr(error.orig, "sqlite_errorcode", None) in _NOT_OPENED
    if error.statement is None or error.connection_invalidated or closed:
        return Failure(f"can't reach {where}: {text}", Exit.UNREACHABLE)
    if isinstance(error.orig, sqlite3.Error) and any(words in text for words in _BUSY):
        return Failure(f"{where} is busy, another program writes to it: {text}", Exit.UNREACHABLE)
    return Failure(f"the database refused: {text}")


def _line(error: BaseException, url: URL | None) -> str:
    said, _, _ = str(error).partition("\nCONTEXT:")  # in which function of the schema it happened is no help
    return one_line(scrubbed(said, url))

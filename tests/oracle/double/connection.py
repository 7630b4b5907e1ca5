"""A connection with python-oracledb's surface on one of psycopg."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import oracledb
import psycopg
from psycopg.pq import TransactionStatus

from tests.oracle.double.cursor import Cursor
from tests.oracle.double.ddl import PARTITIONED
from tests.oracle.double.errors import dpy, ora, refuse, translated
from tests.oracle.double.statement import Form, Statement
from tests.oracle.double.tokens import Token, find, is_words
from tests.oracle.double.values import Lob

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION: Final = "19.24.0.0.0"
"""The version that a double claims to be."""

_NOT_CONNECTED: Final = 1001
_CALL_TIMEOUT: Final = 4024
_PATHS: Final = "public, ora, pg_catalog"
_SETTINGS: Final = {
    "search_path": _PATHS.replace(" ", ""),
    # The host's zone is not UTC, so that what forgets about it is found out.
    "TimeZone": "Asia/Kolkata",
    # Nothing is known of tables that were just filled, which would be read from end to end again and again.
    "cursor_tuple_fraction": "1",
    "enable_seqscan": "off",
}
_OPTIONS: Final = " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items())
_GUARD: Final = "SAVEPOINT statement_guard"
_PATIENCE: Final = "SET LOCAL lock_timeout = '5s'"


def found(dsn: str) -> None:
    """Make an empty database of PostgreSQL one that a double can execute on; its user is to be a superuser."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(Path(__file__).with_name("prelude.sql").read_bytes())


class Connection:
    """What an application has of Oracle. DDL commits, a failed statement leaves the transaction as it was."""

    # The library knows connections of a driver by the module of their class.
    __module__ = "oracledb.connection"

    thin = True
    version = VERSION
    max_identifier_length = 128
    stmtcachesize = 20

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.autocommit = False
        self.outputtypehandler: Any = None
        self.inputtypehandler: Any = None
        self.transactions = 0
        """How many transactions have ended; what a locking cursor has not fetched is lost with its own."""
        self.known: set[str] = set()
        """The locking queries that were executed before."""
        self.grown: set[str] = set()
        """The tables that a large batch has changed, which PostgreSQL is to look at again."""
        self._portals = 0
        self._timeout = 0
        self._guarded = False
        self._untouched = False
        """Whether nothing was changed or locked since the guard was set."""
        self._isolation = ""
        self._lock = threading.RLock()
        try:
            self._postgresql = psycopg.connect(dsn, autocommit=True, options=_OPTIONS)
            [(self.clob,)] = self._postgresql.execute("SELECT CAST('ora.clob' AS regtype)::oid::int").fetchall()
        except psycopg.Error as error:
            raise translated(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._postgresql.closed:
            self.close()

    # --- what the driver offers ------------------------------------------------------------------------------

    def cursor(self, scrollable: bool = False) -> Cursor:  # noqa: FBT001, FBT002 - the driver's signature
        """Return a new cursor."""
        if scrollable:
            refuse("has no scrollable cursors")
        self.check_open()
        return Cursor(self)

    def commit(self) -> None:
        """Commit."""
        self._end("COMMIT")

    def rollback(self) -> None:
        """Roll back."""
        self._end("ROLLBACK")

    def close(self) -> None:
        """Roll back and close."""
        self.check_open()
        self._postgresql.close()

    def cancel(self) -> None:
        """Break what another thread executes."""
        self._postgresql.cancel_safe()

    def ping(self) -> None:
        """Make sure that the database answers."""
        self.check_open()
        with self.translating():
            self._postgresql.execute("")

    def is_healthy(self) -> bool:
        """Tell, without asking the database, whether the connection seems usable."""
        return not self._postgresql.closed

    @property
    def transaction_in_progress(self) -> bool:
        """Whether something was changed or locked that is neither committed nor rolled back."""
        if self._idle:
            return False
        [(assigned,)] = self._postgresql.execute("SELECT pg_current_xact_id_if_assigned() IS NOT NULL").fetchall()
        return bool(assigned)

    @property
    def call_timeout(self) -> int:
        """After how many milliseconds a call fails; 0 is never."""
        return self._timeout

    @call_timeout.setter
    def call_timeout(self, milliseconds: int) -> None:
        self._timeout = milliseconds
        self._postgresql.execute(f"SET statement_timeout = {milliseconds:d}".encode())

    def createlob(self, lob_type: object, data: str = "") -> Lob:
        """Return a temporary LOB."""
        if lob_type not in (oracledb.DB_TYPE_CLOB, oracledb.DB_TYPE_NCLOB):
            refuse("has CLOBs only")
        return Lob(data)

    def subscribe(self, *_: object, **__: object) -> None:
        """Refuse: nothing here notifies."""
        refuse("has no notifications")

    # --- what its cursors use --------------------------------------------------------------------------------

    @property
    def session(self) -> int:
        """The process of PostgreSQL behind this connection, for tests that look at it from outside."""
        return self._postgresql.info.backend_pid

    def opened(self) -> int:
        """Count the cursors that the server keeps."""
        self._portals += 1
        return self._portals

    @property
    def _idle(self) -> bool:
        return self._postgresql.info.transaction_status is TransactionStatus.IDLE

    def check_open(self) -> None:
        """Raise unless the connection is open."""
        if self._postgresql.closed:
            raise dpy(_NOT_CONNECTED)

    @contextmanager
    def translating(self, statement: Statement | None = None) -> Iterator[None]:
        """Raise the driver's errors."""
        try:
            yield
        except psycopg.errors.QueryCanceled as error:
            raise (dpy(_CALL_TIMEOUT, timeout=self._timeout) if self._timeout else translated(error)) from error
        except psycopg.Error as error:
            if statement is None:
                raise translated(error) from error
            raise translated(error, statement.verb, sequences=statement.sequences) from error

    @contextmanager
    def executing(self, statement: Statement) -> Iterator[psycopg.Cursor[tuple[Any, ...]]]:
        """
        Execute one statement, which leaves the transaction as it was if it fails.

        A query begins no transaction, so that nothing has to be guarded and nothing stays open.
        """
        self.check_open()
        with self._lock, self.translating(statement), self._postgresql.cursor() as cursor:
            began = self._idle and (statement.form is Form.CHANGE or bool(statement.lock.holds or self._isolation))
            if began:
                cursor.execute(f"BEGIN {self._isolation}".encode())
                self._guarded = self._untouched = False
            elif not (self._idle or self._untouched):
                self.guard()
            try:
                yield cursor
            except BaseException:
                self._undo(all_of_it=began)
                raise
            self._untouched = self._guarded and statement.form is Form.QUERY and not statement.lock.holds
        if self.autocommit:
            self.commit()

    def guard(self) -> None:
        """Remember how things stand; a failure leads back here."""
        self._postgresql.execute(f"RELEASE {_GUARD}; {_GUARD}".encode() if self._guarded else _GUARD.encode())
        self._guarded = self._untouched = True

    def undo(self) -> None:
        """Go back to where things stood."""
        self._postgresql.execute(f"ROLLBACK TO {_GUARD}".encode())

    def _undo(self, *, all_of_it: bool) -> None:
        if self._postgresql.closed or self._idle:
            return
        with suppress(psycopg.OperationalError):  # what broke the connection is raised already
            if all_of_it:
                self._postgresql.execute("ROLLBACK")
            else:
                self.undo()

    def define(self, statement: Statement) -> None:
        """Execute DDL, in a transaction of its own: what was open is committed, whatever becomes of it."""
        self.commit()
        temporary_first = f"SET LOCAL search_path = temporary, {_PATHS}"
        with self._lock, self.translating(statement), self._postgresql.transaction():
            self._postgresql.execute(_PATIENCE)
            for text in statement.definitions:
                if text == PARTITIONED:
                    self._check_partitioning()
                    continue
                if not text.startswith(("CREATE TABLE", "CREATE VIEW", "CREATE SEQUENCE", "DROP VIEW")):
                    self._postgresql.execute(temporary_first.encode())
                try:
                    self._postgresql.execute(text.encode())
                except psycopg.errors.UniqueViolation as error:
                    if (error.diag.constraint_name or "").startswith("pg_"):  # two create the same at once
                        raise ora(955, "name is already used by an existing object") from error
                    raise
        self.transactions += 1

    def _check_partitioning(self) -> None:
        query = "SELECT value FROM v$option WHERE parameter = 'Partitioning'"
        if self._postgresql.execute(query.encode()).fetchall() != [("TRUE",)]:
            raise ora(439, "feature not enabled: Partitioning")

    def control(self, statement: Statement) -> None:
        """Execute a statement about the transaction or the session."""
        found = [Token(*token) for token in statement.tokens]
        if statement.verb == "COMMIT":
            self.commit()
        elif is_words(found, 0, "ROLLBACK", "TO"):
            self._savepoint(f"ROLLBACK TO SAVEPOINT {found[-1].text}")
        elif statement.verb == "ROLLBACK":
            self.rollback()
        elif statement.verb == "SAVEPOINT":
            self._savepoint(f"SAVEPOINT {found[1].text}")
        elif (level := find(found, "ISOLATION", "LEVEL")) >= 0:
            self._begin(_isolation(found[level + 2].text))
        elif find(found, "ISOLATION_LEVEL") >= 0:
            self._isolation = _isolation(found[-1].text)

    def _begin(self, isolation: str) -> None:
        if not self._idle:
            raise ora(1453, "SET TRANSACTION must be first statement of transaction")
        self._postgresql.execute(f"BEGIN {isolation}".encode())
        self._guarded = self._untouched = False

    def _savepoint(self, text: str) -> None:
        self.check_open()
        with self._lock, self.translating():
            if self._idle and text.startswith("SAVEPOINT"):
                self._begin(self._isolation)
            if self._idle:
                raise ora(1086, "savepoint never established in this session or is invalid")
            self.guard()
            try:
                if text.startswith("SAVEPOINT"):
                    self._postgresql.execute(f"RELEASE {_GUARD}".encode())
                self._postgresql.execute(text.encode())
            except psycopg.Error:
                self.undo()
                raise
            self._guarded = self._untouched = False

    def _end(self, verb: str) -> None:
        self.check_open()
        with self._lock, self.translating():
            if not self._idle:
                self.transactions += 1
                self._guarded = self._untouched = False
                self._postgresql.execute(verb.encode())
            while self.grown:
                self._postgresql.execute(f"ANALYZE {self.grown.pop()}".encode())


def _isolation(word: str) -> str:
    """Oracle's SERIALIZABLE is what others call a snapshot."""
    return "ISOLATION LEVEL REPEATABLE READ" if word == "SERIALIZABLE" else ""

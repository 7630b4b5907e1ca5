"""Whether a transaction ended with its connection."""

import sqlite3

import psycopg
import pytest
import sqlalchemy
from sqlalchemy.orm import Session

from task_processor.connection import broken, refused
from tests.backends import Backend


def cut(backend: Backend, pid: int) -> None:
    """End a session from outside."""
    backend.sql("SELECT pg_terminate_backend(:pid)", pid=pid)


@pytest.mark.backends("postgresql")
@pytest.mark.kinds("driver")
def test_a_connection_that_is_cut_is_broken(backend: Backend) -> None:
    """Whoever holds it: psycopg, a connection or a session of SQLAlchemy (DESIGN 5)."""
    driver = backend.open()
    cut(backend, driver.info.backend_pid)
    with pytest.raises(psycopg.OperationalError) as cut_off:
        driver.execute("SELECT 1")
    assert broken(driver, cut_off.value)
    with backend.engine.connect() as connection, Session(connection) as session:
        pid = connection.execute(sqlalchemy.text("SELECT pg_backend_pid()")).scalar_one()
        cut(backend, pid)
        with pytest.raises(sqlalchemy.exc.OperationalError) as invalidated:
            session.execute(sqlalchemy.text("SELECT 1"))
        assert broken(session, invalidated.value)
        with pytest.raises(sqlalchemy.exc.PendingRollbackError) as later:
            connection.execute(sqlalchemy.text("SELECT 1"))
        assert broken(connection, later.value)


@pytest.mark.kinds("connection", "driver")
def test_an_error_of_the_work_breaks_nothing(backend: Backend) -> None:
    """A statement that fails, or code that raises, leaves the connection as it is (TM-19)."""
    with backend.begin() as tx:
        assert not broken(tx, ValueError())
        text = "SELECT nothing FROM nowhere"
        with pytest.raises((sqlite3.Error, psycopg.Error, sqlalchemy.exc.SQLAlchemyError)) as wrong:
            tx.execute(sqlalchemy.text(text) if backend.kind.value == "connection" else text)
        assert not broken(tx, wrong.value)
        tx.rollback()


def test_what_a_commit_failed_for() -> None:
    """A database that is away or busy is not to blame on the work; what it refuses to store is (TM-19)."""
    assert refused(sqlite3.OperationalError("database is locked"))
    assert refused(psycopg.errors.SerializationFailure())
    assert refused(sqlalchemy.exc.TimeoutError())
    assert not refused(psycopg.errors.UniqueViolation())
    assert not refused(ValueError())

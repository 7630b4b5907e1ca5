"""The double of Oracle locks and commits as Oracle does, where it would be easy to flatter the code tested on it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import oracledb
import psycopg
import pytest

from tests.oracle.items import INSERT, code, fill, rows, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.double import Connection

TIMEOUT = 20
TAKE = "SELECT id FROM item ORDER BY id FOR UPDATE SKIP LOCKED"


def take(connection: Connection, number: int, fetched: int) -> list[int]:
    """Fetch some rows of a locking query, so many at a time."""
    cursor = connection.cursor()
    cursor.arraysize = cursor.prefetchrows = fetched
    cursor.execute(TAKE)
    return [row[0] for row in cursor.fetchmany(number)]


# --- locks -----------------------------------------------------------------------------------------------


def test_rows_are_locked_as_they_are_fetched(connect: Callable[[], Connection]) -> None:
    """Two sessions that take 3 of 10 each get different ones."""
    first, second = connect(), connect()
    fill(first, 10)
    assert take(first, 3, fetched=3) == [1, 2, 3]
    assert take(second, 3, fetched=3) == [4, 5, 6]


def test_fetch_size_is_lock_size(connect: Callable[[], Connection]) -> None:
    """Rows that were fetched and not asked for are locked all the same."""
    first, second = connect(), connect()
    fill(first, 10)
    assert take(first, 3, fetched=10) == [1, 2, 3]
    assert take(second, 3, fetched=10) == []


@pytest.mark.parametrize(("prefetched", "left"), [(3, 7), (0, 0), (10, 0)])
def test_prefetched_rows_are_locked_by_the_execution(
    connect: Callable[[], Connection], prefetched: int, left: int
) -> None:
    """An execution fetches ``prefetchrows``, and the first call to fetch more has ``arraysize``, 100 by default."""
    first, second = connect(), connect()
    fill(first, 10)
    cursor = first.cursor()
    cursor.prefetchrows = prefetched
    cursor.execute(TAKE)
    assert len(take(second, 100, fetched=100)) == 10 - prefetched
    second.rollback()
    cursor.fetchmany(prefetched or 1)
    assert len(take(second, 100, fetched=100)) == left


def test_a_repeated_query_may_fetch_arraysize_at_once(connect: Callable[[], Connection]) -> None:
    """So that ``prefetchrows`` alone is not enough."""
    first, second = connect(), connect()
    fill(first, 10)
    for _ in range(2):
        first.rollback()
        cursor = first.cursor()
        cursor.prefetchrows = 1
        cursor.execute(TAKE)
    assert take(second, 3, fetched=3) == []


def test_for_update_alone_locks_everything_when_it_is_executed(connect: Callable[[], Connection]) -> None:
    """Only SKIP LOCKED locks row by row."""
    first, second = connect(), connect()
    fill(first, 10)
    cursor = first.cursor()
    cursor.arraysize = cursor.prefetchrows = 1
    cursor.execute("SELECT id FROM item ORDER BY id FOR UPDATE")
    assert cursor.fetchone() == (1,)
    assert take(second, 3, fetched=3) == []


def test_a_query_without_for_update_locks_nothing(connect: Callable[[], Connection]) -> None:
    """What forgets it is found out by a second session."""
    first, second = connect(), connect()
    fill(first, 3)
    assert len(rows(first, "SELECT id FROM item")) == 3
    assert not first.transaction_in_progress
    assert take(second, 3, fetched=3) == [1, 2, 3]
    assert second.transaction_in_progress


def test_a_lock_that_is_taken_is_an_error_with_nowait(connect: Callable[[], Connection]) -> None:
    """ORA-00054."""
    first, second = connect(), connect()
    fill(first, 1)
    assert take(first, 1, fetched=1) == [1]
    assert code(second, "SELECT id FROM item FOR UPDATE NOWAIT") == 54


def test_a_deadlock_ends_one_statement(connect: Callable[[], Connection]) -> None:
    """ORA-00060 for one of the two, whose earlier changes stay."""
    first, second = connect(), connect()
    fill(first, 2)
    change = "UPDATE item SET amount = 1 WHERE id = :id"
    run(first, change, id=1)
    run(second, change, id=2)
    codes: list[int] = []

    def cross(connection: Connection, item: int) -> None:
        try:
            run(connection, change, id=item)
        except oracledb.Error as error:
            codes.append(error.args[0].code)
            connection.rollback()

    threads = [threading.Thread(target=cross, args=(first, 2)), threading.Thread(target=cross, args=(second, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert codes == [60]


# --- transactions ----------------------------------------------------------------------------------------


def test_nothing_is_committed_by_itself(connect: Callable[[], Connection]) -> None:
    """A missing commit shows."""
    first, second = connect(), connect()
    run(first, INSERT, name="a")
    assert rows(second, "SELECT name FROM item") == []
    first.close()
    assert rows(second, "SELECT name FROM item") == []


def test_the_context_of_a_connection_ends_with_a_rollback(connect: Callable[[], Connection]) -> None:
    """Unlike psycopg's."""
    with connect() as first:
        run(first, INSERT, name="a")
    assert not first.is_healthy()
    assert rows(connect(), "SELECT name FROM item") == []


def test_autocommit_commits_each_statement(connect: Callable[[], Connection]) -> None:
    """And a locking query loses its locks before its rows are fetched."""
    first, second = connect(), connect()
    first.autocommit = True
    run(first, INSERT, name="a")
    assert rows(second, "SELECT name FROM item") == [("a",)]
    fill(first, 9)
    cursor = first.cursor()
    cursor.execute(TAKE)
    with pytest.raises(oracledb.Error, match="ORA-01002"):
        cursor.fetchall()


def test_a_commit_ends_a_locking_query(connection: Connection) -> None:
    """Rows that were fetched can be had, the others can't."""
    fill(connection, 10)
    cursor = connection.cursor()
    cursor.arraysize = cursor.prefetchrows = 3
    cursor.execute(TAKE)
    connection.commit()
    assert cursor.fetchmany(3) == [(1,), (2,), (3,)]
    with pytest.raises(oracledb.Error, match="ORA-01002"):
        cursor.fetchmany(3)


def test_a_failed_statement_leaves_the_transaction_as_it_was(connection: Connection) -> None:
    """What came before stays, and what comes after works."""
    run(connection, INSERT, name="a")
    assert code(connection, INSERT, name="a") == 1
    run(connection, INSERT, name="b")
    assert code(connection, "SELECT nothing FROM item") == 904
    connection.commit()
    assert rows(connection, "SELECT name FROM item ORDER BY name") == [("a",), ("b",)]


def test_locks_outlive_a_failed_statement(connect: Callable[[], Connection]) -> None:
    """Also those of rows fetched just before it."""
    first, second = connect(), connect()
    fill(first, 4)
    cursor = first.cursor()
    cursor.arraysize = cursor.prefetchrows = 1
    cursor.execute(TAKE)
    assert cursor.fetchmany(2) == [(1,), (2,)]
    assert code(first, INSERT, name="n1") == 1
    assert cursor.fetchmany(1) == [(3,)]
    assert take(second, 4, fetched=4) == [4]


def test_definitions_commit(connect: Callable[[], Connection]) -> None:
    """Before and after, also when they fail."""
    first, second = connect(), connect()
    run(first, INSERT, name="a")
    run(first, "CREATE TABLE other (x NUMBER(10))")
    assert rows(second, "SELECT name FROM item") == [("a",)]
    run(first, INSERT, name="b")
    assert code(first, "DROP TABLE missing PURGE") == 942
    first.rollback()
    assert rows(second, "SELECT name FROM item ORDER BY name") == [("a",), ("b",)]


def test_savepoints(connection: Connection) -> None:
    """A failed statement does not harm them; one that was never set is an error."""
    run(connection, INSERT, name="a")
    run(connection, "SAVEPOINT here")
    run(connection, INSERT, name="b")
    assert code(connection, INSERT, name="b") == 1
    run(connection, "ROLLBACK TO SAVEPOINT here")
    run(connection, INSERT, name="c")
    assert code(connection, "ROLLBACK TO SAVEPOINT nowhere") == 1086
    connection.commit()
    assert rows(connection, "SELECT name FROM item ORDER BY name") == [("a",), ("c",)]


def test_a_serializable_transaction_refuses_what_changed(connect: Callable[[], Connection]) -> None:
    """ORA-08177."""
    first, second = connect(), connect()
    fill(first, 1)
    run(first, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
    assert rows(first, "SELECT amount FROM item") == [(None,)]
    run(second, "UPDATE item SET amount = 1")
    second.commit()
    assert code(first, "UPDATE item SET amount = 2") == 8177


def test_a_temporary_table_shows_each_transaction_its_own_rows(connect: Callable[[], Connection]) -> None:
    """They go with it, and a savepoint takes back what came after it."""
    first, second = connect(), connect()
    run(
        first,
        "CREATE GLOBAL TEMPORARY TABLE note (x NUMBER(10), CONSTRAINT note_key PRIMARY KEY (x)) ON COMMIT DELETE ROWS",
    )
    run(first, "CREATE INDEX note_x ON note (x)")
    for connection in (first, second):
        run(connection, "INSERT INTO note (x) VALUES (1)")
        run(connection, "SAVEPOINT here")
        run(connection, "INSERT INTO note (x) VALUES (2)")
        run(connection, "ROLLBACK TO SAVEPOINT here")
        assert rows(connection, "SELECT x FROM note") == [(1,)]
    first.commit()
    assert rows(first, "SELECT x FROM note") == []
    assert rows(second, "SELECT x FROM note") == [(1,)]
    assert rows(first, "SELECT table_name FROM user_tables WHERE temporary = 'Y'") == [("NOTE",)]
    second.commit()
    run(first, "DROP TABLE note")
    assert code(first, "SELECT x FROM note") == 942


def test_a_lost_connection_is_told_as_the_driver_does(connection: Connection, dsn: str) -> None:
    """First that it was lost, then that there is none."""
    run(connection, INSERT, name="a")
    with psycopg.connect(dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [connection.session])
    with pytest.raises(oracledb.DatabaseError, match="DPY-4011") as caught:
        run(connection, INSERT, name="b")
    assert caught.value.args[0].isrecoverable
    assert not connection.is_healthy()
    with pytest.raises(oracledb.InterfaceError, match="DPY-1001"):
        connection.commit()

"""The double of Oracle behaves like Oracle where it would be easy to flatter the code that is tested on it."""

from __future__ import annotations

import datetime as dt
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import oracledb
import psycopg
import pytest
import sqlalchemy

from task_sql.registry import dialect_of
from tests.backends.provision import DoubleProvision
from tests.oracle import double

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.oracle.double import Connection

TIMEOUT = 20
TABLE = """
CREATE TABLE item (
    id NUMBER(19) DEFAULT item_sequence.NEXTVAL NOT NULL,
    name VARCHAR2(10 CHAR) NOT NULL,
    amount NUMBER(5, 2),
    text CLOB,
    moment TIMESTAMP(6) DEFAULT SYS_EXTRACT_UTC(SYSTIMESTAMP) NOT NULL,
    CONSTRAINT item_key PRIMARY KEY (id) USING INDEX INITRANS 8,
    CONSTRAINT item_name UNIQUE (name),
    CONSTRAINT item_amount CHECK (amount >= 0)
) PCTFREE 30
"""
TAKE = "SELECT id FROM item ORDER BY id FOR UPDATE SKIP LOCKED"
INSERT = "INSERT INTO item (name) VALUES (:name)"


@pytest.fixture(scope="session")
def provision(postgresql_url: str) -> Iterator[DoubleProvision]:
    """Databases that the double executes on, with nothing in them."""
    provision = DoubleProvision(postgresql_url, install=False)
    yield provision
    provision.close()


@pytest.fixture
def dsn(provision: DoubleProvision) -> Iterator[str]:
    """A database of the test's own with one table in it."""
    with provision.create(partitioned=False) as url:
        dsn = str(sqlalchemy.make_url(url).query["dsn"])
        with double.connect(dsn) as connection:
            run(connection, "CREATE SEQUENCE item_sequence ORDER CACHE 100")
            run(connection, TABLE)
        yield dsn


@pytest.fixture
def connect(dsn: str) -> Iterator[Callable[[], Connection]]:
    """Open another connection."""
    opened: list[Connection] = []

    def connect() -> Connection:
        opened.append(double.connect(dsn))
        return opened[-1]

    yield connect
    for connection in opened:
        if connection.is_healthy():
            connection.close()


@pytest.fixture
def connection(connect: Callable[[], Connection]) -> Connection:
    """A connection."""
    return connect()


def run(connection: Connection, statement: str, **binds: object) -> int:
    """Execute a statement; return how many rows it touched."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(statement, binds)
        return cursor.rowcount


def rows(connection: Connection, query: str, **binds: object) -> list[Any]:
    """Execute a query; return its rows."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(query, binds, fetch_lobs=False)
        return cursor.fetchall()


def fill(connection: Connection, number: int) -> None:
    """Insert items 1, 2, 3, ... and commit."""
    with closing(connection.cursor()) as cursor:
        cursor.executemany(INSERT, [{"name": f"n{place}"} for place in range(1, number + 1)])
    connection.commit()


def code(connection: Connection, statement: str, **binds: object) -> int:
    """Return the number of the ORA error that a statement meets."""
    with pytest.raises(oracledb.Error) as caught:
        rows(connection, statement, **binds)
    return int(caught.value.args[0].code)


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


# --- values ----------------------------------------------------------------------------------------------


def test_the_empty_text_is_null(connection: Connection) -> None:
    """As a bind, as a literal, and as a result."""
    assert code(connection, INSERT, name="") == 1400
    run(connection, "INSERT INTO item (name, text) VALUES ('a', '')")
    assert rows(connection, "SELECT name FROM item WHERE text IS NULL") == [("a",)]
    query = "SELECT '' || NULL || 'x', SUBSTR('abc', 4), NVL(:empty, 'none') FROM DUAL"
    assert rows(connection, query, empty="") == [("x", None, "none")]


def test_a_datetime_is_bound_without_its_fraction(connection: Connection) -> None:
    """Unless it is said to be a TIMESTAMP; the zone is lost in any case."""
    moment = dt.datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=dt.UTC)
    with closing(connection.cursor()) as cursor:
        cursor.execute("INSERT INTO item (name, moment) VALUES ('date', :moment)", moment=moment)
        cursor.setinputsizes(moment=oracledb.DB_TYPE_TIMESTAMP)
        cursor.execute("INSERT INTO item (name, moment) VALUES ('timestamp', :moment)", moment=moment)
    naive = moment.replace(tzinfo=None)
    assert rows(connection, "SELECT moment FROM item ORDER BY name") == [(naive.replace(microsecond=0),), (naive,)]


def test_the_host_has_a_zone_of_its_own(connection: Connection) -> None:
    """SYSDATE is not UTC; SYS_EXTRACT_UTC(SYSTIMESTAMP) is, with a fraction."""
    [(utc, host, local)] = rows(
        connection, "SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP), SYSDATE, CAST(SYSTIMESTAMP AS TIMESTAMP) FROM DUAL"
    )
    assert abs(utc.replace(tzinfo=dt.UTC) - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)
    assert host - utc > dt.timedelta(hours=5)
    assert local - utc == dt.timedelta(hours=5, minutes=30)


def test_times_and_numbers_are_calculated_with(connection: Connection) -> None:
    """Intervals have fractions, texts are read to the microsecond, quotients are not cut, NULL stays NULL."""
    query = """
    SELECT
        TO_TIMESTAMP(:text, 'YYYY-MM-DD HH24:MI:SS.FF6') + NUMTODSINTERVAL(:seconds, 'SECOND'),
        TO_TIMESTAMP(:nothing, 'YYYY-MM-DD HH24:MI:SS.FF6') + NUMTODSINTERVAL(:nothing, 'SECOND'),
        GREATEST(1, 2), LEAST(1, NULL), 1 / 4, MOD(7, 4), DECODE(2, 1, 'one', 2, 'two', 'more')
    FROM DUAL
    """
    [row] = rows(connection, query, text="2024-01-01 00:00:00.000001", seconds=1.5, nothing=None)
    moment = dt.datetime(2024, 1, 1, 0, 0, 1, 500001)  # noqa: DTZ001 - as Oracle gives it
    assert row == (moment, None, 2, None, 0.25, 3, "two")


def test_whole_numbers_are_int(connection: Connection) -> None:
    """And others float, also as the sum of a column."""
    run(connection, "INSERT INTO item (name, amount) VALUES ('a', 1.5)")
    run(connection, "INSERT INTO item (name, amount) VALUES ('b', 0.5)")
    [(whole, total)] = rows(connection, "SELECT COUNT(*), SUM(amount) FROM item")
    assert (whole, type(whole), total, type(total)) == (2, int, 2, int)
    assert rows(connection, "SELECT amount FROM item WHERE name = 'a'") == [(1.5,)]


def test_texts_of_any_length_come_as_lobs(connection: Connection) -> None:
    """Unless a handler of output types, or the execution, says otherwise; a VARCHAR2 never does."""
    text = "ä" * 50_000
    run(connection, "INSERT INTO item (name, text) VALUES ('a', :text)", text=text)
    cursor = connection.cursor()
    cursor.execute("SELECT name, text FROM item")
    [(name, lob)] = cursor.fetchall()
    assert (name, lob.read(), lob.size()) == ("a", text, 50_000)

    def as_text(cursor: Any, column: Any) -> object:  # noqa: ANN401 - as the driver passes them
        if column.type_code is oracledb.DB_TYPE_CLOB:
            return cursor.var(oracledb.DB_TYPE_LONG, arraysize=cursor.arraysize, outconverter=len)
        return None

    cursor.outputtypehandler = as_text
    cursor.execute("SELECT name, text FROM item")
    assert cursor.fetchall() == [("a", 50_000)]
    assert rows(connection, "SELECT text FROM item") == [(text,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM item WHERE text = 'x'",
        "SELECT DISTINCT text FROM item",
        "SELECT text, COUNT(*) FROM item GROUP BY text",
        "SELECT id FROM item ORDER BY text",
        "SELECT CASE id WHEN 1 THEN text ELSE name END FROM item",
    ],
)
def test_a_clob_is_not_compared(connection: Connection, query: str) -> None:
    """ORA-00932, as nothing about CLOBs is but their being NULL."""
    assert code(connection, query) == 932


def test_a_long_text_is_nothing_but_the_value_of_a_column(connection: Connection) -> None:
    """In an expression it has to be a CLOB: ORA-01461."""
    long = "x" * 4001
    run(connection, "INSERT INTO item (name, text) VALUES ('a', :text)", text=long)
    run(connection, "UPDATE item i SET i.text = :text WHERE i.name = 'a'", text=long)
    for statement in (
        "UPDATE item SET text = text || :text",
        "INSERT INTO item (name, text) SELECT 'b', :text FROM DUAL",
        "SELECT id FROM item WHERE name = :text",
        "INSERT INTO item (name, text) VALUES ('b', NVL(:text, 'x'))",
    ):
        assert code(connection, statement, text=long) == 1461
    run(connection, "UPDATE item SET text = text || :text", text=connection.createlob(oracledb.DB_TYPE_CLOB, long))
    with closing(connection.cursor()) as cursor:
        cursor.setinputsizes(text=oracledb.DB_TYPE_CLOB)
        cursor.execute("UPDATE item SET text = text || :text", text=long)
    assert rows(connection, "SELECT LENGTH(text) FROM item") == [(3 * 4001,)]


def test_none_is_a_text_where_that_matters(connection: Connection) -> None:
    """Among the branches of a CASE or the arguments of COALESCE it must fit the others: ORA-00932."""
    assert code(connection, "SELECT COALESCE(:moment, SYSTIMESTAMP) FROM DUAL", moment=None) == 932
    assert code(connection, "SELECT CASE WHEN 1 = 1 THEN :value ELSE 1 END FROM DUAL", value=None) == 932
    with closing(connection.cursor()) as cursor:
        cursor.setinputsizes(value=oracledb.DB_TYPE_NUMBER)
        cursor.execute("SELECT CASE WHEN 1 = 1 THEN :value ELSE 1 END FROM DUAL", value=None)
        assert cursor.fetchall() == [(None,)]


def test_a_table_is_read_from_json(connection: Connection) -> None:
    """The order of its rows is that of the array."""
    query = """
    SELECT j.place, j.name FROM JSON_TABLE(:given, '$[*]' ERROR ON ERROR COLUMNS (
        place NUMBER(19) PATH '$[0]', name VARCHAR2(10 CHAR) PATH '$[1]')) j
    """
    assert rows(connection, query, given='[[2, "b"], [1, null]]') == [(2, "b"), (1, None)]


def test_a_series_of_levels(connection: Connection) -> None:
    """FROM DUAL CONNECT BY LEVEL."""
    assert rows(connection, "SELECT LEVEL * 2 AS n FROM DUAL CONNECT BY LEVEL <= :n", n=3) == [(2,), (4,), (6,)]


# --- DML -------------------------------------------------------------------------------------------------


def test_returning_keeps_the_order_of_the_batch(connection: Connection) -> None:
    """Each execution has a list of its own, filled with what it changed."""
    with closing(connection.cursor()) as cursor:
        ids, names = cursor.var(int, arraysize=3), cursor.var(str, arraysize=3)
        cursor.setinputsizes(id=ids, changed=names)
        cursor.executemany(
            "INSERT INTO item (name) VALUES (:name) RETURNING id, name INTO :id, :changed",
            [{"name": name} for name in "cab"],
        )
        assert (ids.values, names.values) == ([[1], [2], [3]], [["c"], ["a"], ["b"]])
        many = cursor.var(oracledb.DB_TYPE_NUMBER)
        cursor.execute("UPDATE item SET amount = 1 WHERE id > :least RETURNING id INTO :id", least=1, id=many)
        assert sorted(many.getvalue()) == [2, 3]
        cursor.execute("DELETE FROM item WHERE id = :least RETURNING id INTO :id", least=9, id=many)
        assert many.getvalue() == []


def test_a_batch_tells_how_many_rows_each_execution_touched(connection: Connection) -> None:
    """And their sum, and nothing unless it was asked for."""
    fill(connection, 3)
    with closing(connection.cursor()) as cursor:
        values = [{"least": least} for least in (1, 9, 3)]
        cursor.executemany("UPDATE item i SET i.amount = 1 WHERE i.id >= :least", values, arraydmlrowcounts=True)
        assert (cursor.getarraydmlrowcounts(), cursor.rowcount) == ([3, 0, 1], 4)
        cursor.executemany("UPDATE item SET amount = 1 WHERE id >= :least", values)
        with pytest.raises(oracledb.Error, match="DPY-4006"):
            cursor.getarraydmlrowcounts()


def test_a_failed_batch_has_done_what_came_before(connection: Connection) -> None:
    """The error tells which execution it was; with batch errors the rest is executed too."""
    names = [{"name": name} for name in ("a", "b", "a", "c")]
    with closing(connection.cursor()) as cursor:
        with pytest.raises(oracledb.IntegrityError) as caught:
            cursor.executemany(INSERT, names)
        assert (caught.value.args[0].offset, cursor.rowcount) == (2, 2)
        assert rows(connection, "SELECT name FROM item ORDER BY name") == [("a",), ("b",)]
        connection.rollback()
        cursor.executemany(INSERT, names, batcherrors=True)
        assert [(error.code, error.offset) for error in cursor.getbatcherrors()] == [(1, 2)]
        assert rows(connection, "SELECT name FROM item ORDER BY name") == [("a",), ("b",), ("c",)]


def test_a_merge_changes_or_inserts(connection: Connection) -> None:
    """With a condition on each branch."""
    merge = """
    MERGE INTO item i USING (SELECT :name AS name, :amount AS amount FROM DUAL) s ON (i.name = s.name)
    WHEN MATCHED THEN UPDATE SET i.amount = s.amount WHERE i.amount < s.amount
    WHEN NOT MATCHED THEN INSERT (i.name, i.amount) VALUES (s.name, s.amount)
    """
    assert [run(connection, merge, name="a", amount=amount) for amount in (2, 1, 3)] == [1, 0, 1]
    assert rows(connection, "SELECT name, amount FROM item") == [("a", 3)]
    run(connection, "MERGE INTO item i USING DUAL ON (i.name = 'b') WHEN NOT MATCHED THEN INSERT (name) VALUES ('b')")
    assert rows(connection, "SELECT COUNT(*) FROM item") == [(2,)]


# --- refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("SELECT 1 FROM DUAL;", 933),
        ("SELECT id FROM item WHERE id IN (" + "1, " * 1000 + "1)", 1795),
        ("SELECT DISTINCT id FROM item FOR UPDATE", 2014),
        ("SELECT id FROM item GROUP BY id FOR UPDATE", 2014),
        ("SELECT id FROM item FETCH FIRST 1 ROWS ONLY FOR UPDATE", 2014),
        ("SELECT id FROM (SELECT id FROM item FETCH FIRST 1 ROWS ONLY) FOR UPDATE", 2014),
        ("SELECT id FROM item WHERE ROWNUM < 2 FOR UPDATE", 2014),
        ("SELECT id FROM item LIMIT 1", 933),
        ("SELECT 1", 923),
        ("SELECT id FROM item AS i", 933),
        ("SELECT id AS level FROM item", 923),
        ("SELECT i.id FROM (SELECT id FROM item) AS i", 933),
        ("SELECT id::text FROM item", 933),
        ("SELECT item_sequence.NEXTVAL FROM item ORDER BY id", 2287),
        ("SELECT * FROM (SELECT item_sequence.NEXTVAL AS n FROM DUAL)", 2287),
        ("SELECT missing.NEXTVAL FROM DUAL", 2289),
        ("SELECT x FROM missing", 942),
        ("SELECT missing FROM item", 904),
        ("SELECT missing(id) FROM item", 904),
        ("SELECT 1 / 0 FROM DUAL", 1476),
        ("SELEC 1 FROM DUAL", 900),
        ("SELECT id FROM WHERE", 933),
        ("INSERT INTO item (name) VALUES ('a'), ('b')", 933),
        ("INSERT INTO item (name) VALUES ('a') RETURNING id", 925),
        ("INSERT INTO item (name) VALUES ('longer than ten')", 12899),
        ("INSERT INTO item (name) VALUES (NULL)", 1400),
        ("INSERT INTO item (name, amount) VALUES ('a', -1)", 2290),
        ("INSERT INTO item (name, amount) VALUES ('a', 10000)", 1438),
        ("UPDATE item SET amount = 1 FROM other", 933),
        ("CREATE TABLE item (x NUMBER(1))", 955),
        ("CREATE TABLE other (size NUMBER(1))", 904),
        ("DROP TABLE IF EXISTS other", 933),
        ("DROP TABLE other", 942),
        ("DROP VIEW other", 942),
        ("DROP SEQUENCE other", 2289),
        ("DROP INDEX other", 1418),
    ],
)
def test_what_oracle_refuses(connection: Connection, statement: str, number: int) -> None:
    """By the same number, and nothing is harmed."""
    assert code(connection, statement) == number
    assert rows(connection, "SELECT COUNT(*) FROM item") == [(0,)]


def test_keys_of_other_tables(connection: Connection) -> None:
    """A missing parent is ORA-02291, a child that is left ORA-02292."""
    run(connection, "CREATE TABLE child (item NUMBER(19) NOT NULL, FOREIGN KEY (item) REFERENCES item (id))")
    assert code(connection, "INSERT INTO child (item) VALUES (1)") == 2291
    fill(connection, 1)
    run(connection, "INSERT INTO child (item) VALUES (1)")
    assert code(connection, "DELETE FROM item") == 2292


def test_binds_must_be_those_of_the_statement(connection: Connection) -> None:
    """None missing, none too many, none that is a reserved word or a boolean; those in a literal are none."""
    query = "SELECT :one || ':two' FROM DUAL"
    assert rows(connection, query, one="1") == [("1:two",)]
    with pytest.raises(oracledb.DatabaseError, match="DPY-4010"):
        rows(connection, query)
    with pytest.raises(oracledb.DatabaseError, match="DPY-4008"):
        rows(connection, query, one=1, two=2)
    assert code(connection, "SELECT :size FROM DUAL", size=1) == 1745
    assert rows(connection, 'SELECT :"size" FROM DUAL', size=1) == [(1,)]
    assert code(connection, "SELECT :flag FROM DUAL", flag=True) == 3115


def test_a_bind_has_one_type_in_a_batch(connection: Connection) -> None:
    """None fits any; a number after a text does not."""
    statement = "INSERT INTO item (name, amount) VALUES (:name, :amount)"
    with closing(connection.cursor()) as cursor:
        cursor.executemany(statement, [{"name": "a", "amount": None}, {"name": "b", "amount": 1.5}])
        with pytest.raises(oracledb.NotSupportedError, match="DPY-3013"):
            cursor.executemany(statement, [{"name": "c", "amount": 1}, {"name": 1, "amount": 1}])


@pytest.mark.parametrize(
    "statement",
    [
        "BEGIN NULL; END;",
        "DECLARE x NUMBER; BEGIN NULL; END;",
        "CALL something()",
        "CREATE OR REPLACE PROCEDURE p AS BEGIN NULL; END;",
        "CREATE TRIGGER t BEFORE INSERT ON item BEGIN NULL; END;",
    ],
)
def test_programs_are_refused(connection: Connection, statement: str) -> None:
    """Nothing here executes PL/SQL, and it says so."""
    with pytest.raises(oracledb.NotSupportedError, match="double of Oracle executes no PL/SQL"):
        run(connection, statement)
    with pytest.raises(oracledb.NotSupportedError, match="double"):
        connection.cursor().callproc("dbms_stats.gather_table_stats")


def test_partitions_need_the_option(connection: Connection) -> None:
    """ORA-00439 where the database has no Partitioning; else the table says that it is partitioned."""
    create = "CREATE TABLE {} (x NUMBER(1)) PARTITION BY LIST (x) AUTOMATIC (PARTITION p VALUES (1))"
    run(connection, create.format("one"))
    assert rows(connection, "SELECT partitioned FROM user_tables WHERE table_name = 'ONE'") == [("YES",)]
    run(connection, "UPDATE v$option SET value = 'FALSE' WHERE parameter = 'Partitioning'")
    assert code(connection, create.format("two")) == 439


# --- who uses it -----------------------------------------------------------------------------------------


def test_sqlalchemy_runs_its_own_dialect_on_it(dsn: str) -> None:
    """With its types, its RETURNING and its savepoints."""
    double.register()
    engine = sqlalchemy.create_engine(double.url(dsn))
    item = sqlalchemy.Table(
        "item",
        sqlalchemy.MetaData(),
        sqlalchemy.Column("id", sqlalchemy.Integer, sqlalchemy.Sequence("item_sequence"), primary_key=True),
        sqlalchemy.Column("name", sqlalchemy.String(10)),
        sqlalchemy.Column("text", sqlalchemy.Text),
        sqlalchemy.Column("moment", sqlalchemy.TIMESTAMP),
    )
    moment = dt.datetime(2024, 1, 1, 0, 0, 0, 5)  # noqa: DTZ001 - Oracle's has no zone
    with engine.begin() as connection:
        assert (engine.dialect.name, engine.dialect.driver) == ("oracle", "oracledb")
        insert = item.insert().values(name="a", text="x" * 10_000, moment=moment).returning(item.c.id)
        assert connection.execute(insert).scalar_one() == 1
        nested = connection.begin_nested()
        connection.execute(item.delete())
        nested.rollback()
        found = connection.execute(sqlalchemy.select(item).limit(1)).one()
        assert tuple(found) == (1, "a", "x" * 10_000, moment)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(item.delete())
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.select(sqlalchemy.func.count()).select_from(item)).scalar_one() == 0
    engine.dispose()


def test_sqlalchemy_notices_a_lost_connection(dsn: str) -> None:
    """And makes another one."""
    double.register()
    engine = sqlalchemy.create_engine(double.url(dsn))
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        with psycopg.connect(dsn, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [driver.session])
        with pytest.raises(sqlalchemy.exc.DBAPIError) as caught:
            connection.exec_driver_sql("SELECT 1 FROM DUAL")
        assert caught.value.connection_invalidated
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 1 FROM DUAL").scalar_one() == 1
    engine.dispose()


def test_the_library_takes_it_for_oracle(connection: Connection) -> None:
    """By the module of its class."""
    assert dialect_of(connection).name == "oracle"

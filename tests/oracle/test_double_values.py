"""The double of Oracle takes and gives values as Oracle and its driver do, one by one and in batches."""

from __future__ import annotations

import datetime as dt
from contextlib import closing
from typing import TYPE_CHECKING, Any

import oracledb
import pytest

from tests.oracle.items import INSERT, code, fill, rows, run

if TYPE_CHECKING:
    from tests.oracle.double import Connection


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

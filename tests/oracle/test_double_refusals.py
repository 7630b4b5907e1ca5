"""The double of Oracle refuses what Oracle refuses, by the same number."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import oracledb
import pytest

from tests.oracle.items import code, fill, rows, run

if TYPE_CHECKING:
    from tests.oracle.double import Connection


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

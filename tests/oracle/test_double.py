"""The double of Oracle is taken for Oracle by those who use it."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import sqlalchemy

from task_sql.registry import dialect_of
from tests.oracle import double

if TYPE_CHECKING:
    from tests.oracle.double import Connection


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

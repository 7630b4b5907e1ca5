"""A schema that is upgraded while it is in use."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import sqlalchemy

import task_sql
from task_sql import schema
from task_sql.schema.scripts import migrations
from tests.backends import Backend, Kind
from tests.fire.faults.fault import BOTH
from tests.fire.faults.generations import New, Old
from tests.fire.faults.patience import begin
from tests.fleet.crew import PATIENCE, eventually
from tests.schema.tables import execute

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from sqlalchemy import Engine

    from tests.fire.scene import Scene

_INITIALIZE = {
    "postgresql": "SELECT task_initialize('topic')",
    "sqlite": "INSERT INTO task_topic (topic) VALUES ('topic')",
}


class Upgrade:
    """
    Several upgrade at once, under load: the scene's own schema, which is up to date, and one of the version before.

    The latter lives in a database of its own. Its clients know the version before by its SQL alone; those of this
    version wait until they find theirs.
    """

    name = "upgrade"
    databases = BOTH

    def strike(self, scene: Scene, chance: Random) -> str:
        """Upgrade, and insist that nothing was lost and nothing was done twice."""
        present = task_sql.create_engine(scene.admin_url)
        try:
            _upgrade(present, number=chance.randint(2, 4))
        finally:
            present.dispose()
        with _older(scene, chance) as older:
            return _under_load(older, chance)


def _upgrade(engine: Engine, number: int) -> None:
    """Upgrade by several at once."""
    start = threading.Barrier(number)

    def one() -> int:
        start.wait(PATIENCE)
        with begin(engine) as tx:
            return schema.upgrade(tx)

    with ThreadPoolExecutor(number) as pool:
        assert {done.result(PATIENCE) for done in [pool.submit(one) for _ in range(number)]} == {schema.VERSION}


def _under_load(backend: Backend, chance: Random) -> str:
    size = chance.randint(1, 30)
    clients = [Old(backend.engine, size), Old(backend.engine, 2 * size), New(backend.engine, size)]
    with ThreadPoolExecutor(2 * len(clients)) as pool:
        parts = [pool.submit(part) for client in clients for part in (client.push, client.work)]
        try:

            def advanced(goal: int) -> bool:
                return any(part.done() for part in parts) or sum(client.decided for client in clients) >= goal

            eventually(lambda: advanced(10 * size), lambda: "no work")
            before = sum(client.decided for client in clients)
            _upgrade(backend.engine, number=chance.randint(2, 4))
            eventually(lambda: advanced(before + 10 * size) and clients[-1].decided > 0, lambda: "no work")
        finally:
            for client in clients:
                client.stop()
        for part in parts:
            part.result(PATIENCE)
    clients[-1].drain()
    pushed = sorted(identifier for client in clients for identifier in client.pushed)
    assert sorted(name for (name,) in backend.sql("SELECT identifier FROM task")) == pushed
    assert backend.sql("SELECT count(*) FROM task WHERE state <> 6") == [(0,)]
    assert sorted(name for (name,) in backend.sql("SELECT identifier FROM effect")) == pushed
    return f"upgraded from version {schema.VERSION - 1} after {before} of {len(pushed)} tasks"


@contextmanager
def _older(scene: Scene, chance: Random) -> Iterator[Backend]:
    """A database with the version before."""
    name, partitioned = f"older_{chance.getrandbits(32):08x}", scene.database == "postgresql" and chance.random() < 0.5
    with _database(scene, name) as url:
        backend = Backend(name=scene.database, partitioned=partitioned, kind=Kind.DRIVER, url=url)
        options = {"partitioned": partitioned, "pretty": True, "notify": True, "fresh": False}
        for migration in migrations(scene.database):
            if migration.version < schema.VERSION:
                execute(backend, migration.render(options))
        backend.sql(_INITIALIZE[scene.database])
        backend.sql("CREATE TABLE effect (identifier varchar(100))")
        try:
            yield backend
        finally:
            backend.finish()


@contextmanager
def _database(scene: Scene, name: str) -> Iterator[str]:
    url = sqlalchemy.make_url(scene.admin_url)
    if scene.database == "sqlite":
        file = scene.folder / f"{name}.db"
        yield f"sqlite:///{file}"
        for path in scene.folder.glob(f"{file.name}*"):
            path.unlink()
        return
    _administer(url, f"CREATE DATABASE {name}")
    try:
        yield url.set(drivername="postgresql+psycopg", database=name).render_as_string(hide_password=False)
    finally:
        _administer(url, f"DROP DATABASE {name} WITH (FORCE)")


def _administer(url: Any, statement: str) -> None:  # noqa: ANN401 - SQLAlchemy's URL
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement.encode())

"""PostgreSQL as a primary alone, or as a primary and the synchronous standby that takes its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from tests.fire.faults.node import Node
from tests.fleet.crew import eventually

if TYPE_CHECKING:
    from random import Random

SPARED = "fire"
"""Sessions with this ``application_name`` are not terminated: those of whoever conducts and audits."""

_SESSIONS = """
SELECT pid FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> %s
ORDER BY backend_start, pid
"""
_SYNCHRONOUS = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"


class Cluster:
    """A server that loses nothing that it said was committed."""

    def __init__(self, *, standby: bool = False) -> None:
        self._primary = Node()
        self._standby: Node | None = None
        try:
            self._primary.found()
            if standby:
                self.rebuild()
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """The maintenance database of the present primary, as superuser."""
        return self._primary.url

    @property
    def port(self) -> int:
        """The port of the present primary, on the loopback interface."""
        return self._primary.port

    @property
    def has_standby(self) -> bool:
        """Whether there is a standby to promote."""
        return self._standby is not None

    def restart(self, mode: str = "immediate") -> None:
        """Restart the primary: ``fast`` cuts all connections, ``immediate`` does not even shut down."""
        self._primary.restart(mode)

    def promote(self) -> None:
        """Kill the primary, put its standby in its place, and build a new standby behind that."""
        self.fail_over()
        self.rebuild()

    def fail_over(self) -> None:
        """Kill the primary and put its standby in its place; there is no standby then."""
        assert self._standby is not None, "there is no standby; build the cluster with one"
        dead, self._primary, self._standby = self._primary, self._standby, None
        dead.kill()
        self._primary.promote()
        dead.stop()

    def rebuild(self) -> None:
        """Build a standby behind the primary, without which nothing is committed from then on."""
        standby = Node()
        try:
            standby.follow(self._primary)
        except BaseException:
            standby.stop()
            raise
        self._standby = standby
        # Only now, so that the copy, once promoted, does not wait for a standby that it does not have yet.
        self._execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        self._execute("SELECT pg_reload_conf()")
        eventually(lambda: self._execute(_SYNCHRONOUS) == [(1,)], lambda: standby.log)

    def terminate_backends(self, chance: Random) -> int:
        """End some sessions of clients, at least one if there is any, and tell how many."""
        found = [pid for (pid,) in self._execute(_SESSIONS, SPARED)]
        number = chance.randint(1, len(found)) if found else 0
        chosen = chance.sample(found, number)
        return len(self._execute("SELECT 1 FROM unnest(%s::int[]) AS pid WHERE pg_terminate_backend(pid)", chosen))

    def stop(self) -> None:
        """Stop all servers and remove their folders."""
        nodes = [node for node in (self._standby, self._primary) if node is not None]
        for node in nodes:
            node.leave()
        for node in nodes:
            node.stop()

    def _execute(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), parameters or None)
            return cursor.fetchall() if cursor.description else []

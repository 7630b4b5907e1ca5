"""The floor on SQLite: one small table and hand-written SQL on sqlite3."""

import sqlite3
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from task_sql import create_engine

from .adapter import BATCH, Adapter
from .work import Work

__all__ = ["RawSqlite", "RawSqliteAlchemy"]

_TABLE: Final = """
CREATE TABLE job (
    sequence INTEGER PRIMARY KEY, topic TEXT NOT NULL, identifier TEXT, state TEXT NOT NULL DEFAULT 'r', owner TEXT,
    input TEXT, output TEXT
)
"""
_INDEX: Final = "CREATE INDEX job_ready ON job (topic, sequence) WHERE state = 'r'"
_PUSH: Final = "INSERT INTO job (topic, input) VALUES ('q', ?)"
_POLL: Final = """
UPDATE job SET state = 'a', owner = 'w' WHERE sequence IN (
    SELECT sequence FROM job WHERE topic = 'q' AND state = 'r' ORDER BY sequence LIMIT ?
) RETURNING sequence, input
"""
_DONE: Final = "UPDATE job SET state = 'd', output = 'ok' WHERE sequence = ?"
_IDLE: Final = 0.005


class RawSqlite(Adapter):
    """Write-ahead log, two transactions for each batch."""

    def __init__(self, target: str, *, batch: int = BATCH) -> None:
        super().__init__(target, batch=batch)
        self._connection = sqlite3.connect(target, isolation_level=None, timeout=30)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def setup(self) -> None:
        """Create the table."""
        self._connection.execute(_TABLE)
        self._connection.execute(_INDEX)

    def push_one(self, payloads: Iterable[str]) -> None:
        """Insert."""
        for payload in payloads:
            self._connection.execute(_PUSH, (payload,))

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Insert many in one transaction."""
        for batch in batches:
            self._change(_PUSH, [(payload,) for payload in batch])

    def work(self, work: Work) -> None:
        """Poll, handle, complete; look again soon where there is nothing."""
        work.ready()
        work.begin()
        while not work.stopping.is_set():
            rows = self._connection.execute(_POLL, (self.batch,)).fetchall()
            if not rows:
                time.sleep(_IDLE)
                continue
            rows.sort()
            for _, text in rows:
                work.handle(text)
            self._change(_DONE, [(sequence,) for sequence, _ in rows])
            work.mark()

    def unfinished(self) -> int | None:
        """Count."""
        return self._number("SELECT count(*) FROM job WHERE state <> 'd'")

    def count(self) -> None:
        """Count all by state."""
        self._connection.execute("SELECT topic, state, count(*), max(sequence) FROM job GROUP BY 1, 2").fetchall()

    def page(self, pages: int) -> None:
        """Read pages from the middle on."""
        start = middle = self._number("SELECT max(sequence) / 2 FROM job")
        statement = "SELECT * FROM job WHERE topic = 'q' AND sequence > ? ORDER BY sequence LIMIT 100"
        for _ in range(pages):
            rows = self._connection.execute(statement, (start,)).fetchall()
            start = rows[-1][0] if rows else middle

    def purge(self) -> int:
        """Delete what is finished."""
        return self._connection.execute("DELETE FROM job WHERE state = 'd'").rowcount

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _number(self, statement: str) -> int:
        return int(self._connection.execute(statement).fetchone()[0])

    def _change(self, statement: str, rows: Sequence[tuple[object]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(statement, rows)
        self._connection.execute("COMMIT")


class RawSqliteAlchemy(RawSqlite):
    """As `RawSqlite`, but pushing one by one in transactions of SQLAlchemy's ``engine.begin``."""

    def __init__(self, target: str, *, batch: int = BATCH) -> None:
        super().__init__(target, batch=batch)
        self._engine: Any = create_engine(f"sqlite:///{target}")

    def push_one(self, payloads: Iterable[str]) -> None:
        """Insert."""
        for payload in payloads:
            with self._engine.begin() as tx:
                tx.exec_driver_sql(_PUSH, (payload,))

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()
        super().close()

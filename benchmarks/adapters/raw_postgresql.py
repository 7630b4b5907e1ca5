"""
The floor on PostgreSQL: one small table and hand-written SQL on psycopg.

It keeps no history of a task beyond its last state, has one queue, and trusts whoever completes a task.
"""

from collections.abc import Iterable, Sequence
from typing import Final, LiteralString

import psycopg
import sqlalchemy

from .adapter import BATCH, Adapter
from .work import Work

__all__ = ["Raw", "RawAlchemy", "RawFloor", "RawUnnest"]

# The order is not the primary key's: while most rows are ready, the planner would walk along that key, past
# everything that is done, rather than use the partial index.
_TABLES: Final = """
CREATE SEQUENCE job_sequence;
CREATE TABLE job (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic text NOT NULL,
    sequence bigint NOT NULL DEFAULT nextval('job_sequence'),
    identifier text,
    state "char" NOT NULL DEFAULT 'r',
    owner text,
    input text,
    output text
);
CREATE INDEX job_ready ON job (topic, sequence) WHERE state = 'r';
"""
_PUSH: Final = "INSERT INTO job (topic, input) VALUES ('q', %s)"
_UNNEST: Final = "INSERT INTO job (topic, input) SELECT 'q', unnest(%s::text[])"
_POLL: Final = """
WITH claimed AS MATERIALIZED (
    SELECT id FROM job WHERE topic = 'q' AND state = 'r' AND sequence > %s
    ORDER BY sequence LIMIT %s FOR UPDATE SKIP LOCKED
)
UPDATE job AS j SET state = 'a', owner = 'w' FROM claimed AS c WHERE j.id = c.id
RETURNING j.sequence, j.id, j.input
"""
_DONE: Final = "UPDATE job SET state = 'd', output = 'ok' WHERE id = ANY(%s)"
_COUNT: Final = "SELECT topic, state, count(*), max(sequence) FROM job GROUP BY topic, state"
_PAGE: Final = "SELECT * FROM job WHERE topic = 'q' AND id > %s ORDER BY id LIMIT 100"


class Raw(Adapter):
    """Two transactions for each batch, COPY for many tasks, NOTIFY with each push."""

    floor = False

    def __init__(self, target: str, *, batch: int = BATCH) -> None:
        super().__init__(target, batch=batch)
        self._connection = psycopg.connect(target, autocommit=True)

    def setup(self) -> None:
        """Create the table."""
        self._connection.execute(_TABLES)

    def push_one(self, payloads: Iterable[str]) -> None:
        """Insert and announce in one round trip and one transaction."""
        for payload in payloads:
            with self._connection.pipeline():
                self._connection.execute(_PUSH, (payload,))
                self._connection.execute("NOTIFY job")

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Copy."""
        for batch in batches:
            with self._connection.cursor().copy("COPY job (topic, input) FROM STDIN") as copy:
                for payload in batch:
                    copy.write_row(("q", payload))

    def work(self, work: Work) -> None:
        """Poll, handle, complete; wait for a notification where there is nothing."""
        connection, floor = self._connection, 0
        connection.execute("LISTEN job")
        work.ready()
        work.begin()
        while not work.stopping.is_set():
            rows = self._rows(_POLL, (floor, self.batch))
            if not rows:
                floor = 0
                for _ in connection.notifies(timeout=0.2, stop_after=1):
                    pass
                continue
            rows.sort()
            for _, _, text in rows:
                work.handle(text)
            self._run(_DONE, ([key for _, key, _ in rows],))
            work.mark()
            if self.floor:
                floor = rows[-1][0]

    def unfinished(self) -> int | None:
        """Count."""
        return self._number("SELECT count(*) FROM job WHERE state <> 'd'")

    def count(self) -> None:
        """Count all by state."""
        self._connection.execute(_COUNT).fetchall()

    def page(self, pages: int) -> None:
        """Read pages from the middle on."""
        start = middle = self._number("SELECT max(id) / 2 FROM job")
        for _ in range(pages):
            rows = self._connection.execute(_PAGE, (start,)).fetchall()
            start = rows[-1][0] if rows else middle

    def purge(self) -> int:
        """Delete what is finished."""
        return self._connection.execute("DELETE FROM job WHERE state = 'd'").rowcount

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _rows(self, statement: LiteralString, parameters: tuple[object, ...]) -> list[tuple[int, int, str]]:
        return self._connection.execute(statement, parameters).fetchall()

    def _run(self, statement: LiteralString, parameters: tuple[object, ...]) -> None:
        self._connection.execute(statement, parameters)

    def _number(self, statement: LiteralString) -> int:
        row = self._connection.execute(statement).fetchone()
        return int(row[0]) if row else 0


class RawUnnest(Raw):
    """As `Raw`, but one INSERT of arrays for many tasks."""

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Insert arrays."""
        for batch in batches:
            self._connection.execute(_UNNEST, (batch,))


class RawFloor(Raw):
    """As `Raw`, but each poll starts where the last one ended; wrong as soon as a lower number is committed late."""

    floor = True


class RawAlchemy(Raw):
    """As `Raw`, but each statement in a transaction of SQLAlchemy's ``engine.begin``."""

    def __init__(self, target: str, *, batch: int = BATCH) -> None:
        super().__init__(target, batch=batch)
        self._engine = sqlalchemy.create_engine(target.replace("postgresql:", "postgresql+psycopg:", 1))

    def push_one(self, payloads: Iterable[str]) -> None:
        """Insert and announce."""
        for payload in payloads:
            with self._engine.begin() as tx:
                tx.exec_driver_sql(_PUSH, (payload,))
                tx.exec_driver_sql("NOTIFY job")

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()
        super().close()

    def _rows(self, statement: LiteralString, parameters: tuple[object, ...]) -> list[tuple[int, int, str]]:
        with self._engine.begin() as tx:
            return [(sequence, key, text) for sequence, key, text in tx.exec_driver_sql(statement, parameters)]

    def _run(self, statement: LiteralString, parameters: tuple[object, ...]) -> None:
        with self._engine.begin() as tx:
            tx.exec_driver_sql(statement, parameters)

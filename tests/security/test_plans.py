"""Rights change no plan: the planner may use the statistics of the columns that a role reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from task_api import TaskDecision
from task_sql.postgresql.claim import CANDIDATES, CLAIM
from task_sql.postgresql.dependency import DEPENDENCY
from task_sql.postgresql.hold import HOLD
from task_sql.postgresql.owner import OWNER
from task_sql.postgresql.push import PUSH, SERIALIZE
from task_sql.postgresql.revive import REVIVE
from tests.security.calls import TOPIC, set_up

if TYPE_CHECKING:
    from tests.backends import Backend
    from tests.security.accounts import Accounts

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver", "plain")]

STATEMENTS = {
    ("producer", "deleter"): [
        *PUSH.retire.values(),
        PUSH.present,
        SERIALIZE,
        *REVIVE.junction.values(),
        DEPENDENCY.lock,
        DEPENDENCY.tie,
        DEPENDENCY.release,
        DEPENDENCY.cascade,
    ],
    ("worker",): [
        *CLAIM.poll.values(),
        *CANDIDATES.values(),
        *HOLD.complete_same.values(),
        HOLD.release,
        OWNER.expire,
        REVIVE.reset,
    ],
}
PARAMETERS: dict[str, Any] = {
    "topic": TOPIC,
    "owner": "w-1",
    "notify": True,
    "salt": 1,
    "size": 10,
    "floor": 0,
    "look": True,
    "number": 2,
    "state": 6,
    "identifiers": "{1,2}",
    "groups": "{1,1}",
    "sequences": "{1,2}",
    "tokens": "{1,1}",
    "awaited": True,
    "again": False,
    "single": False,
    **dict.fromkeys(("lease", "output", "due", "delay", "waits", "on_abort", "message")),
    "timeout": "-1 hour",
}


def test_a_role_gets_the_plans_of_the_owner(backend: Backend, accounts: Accounts) -> None:
    """On a table with a history, as the owner of the tables and as a user who has no more than the role."""
    repository = backend.repository("w-1")
    with backend.begin() as tx:
        set_up(repository, tx)
        repository.push_many(tx, TOPIC, [str(number % 1000) for number in range(5000)])
        tasks = repository.poll_many(tx, TOPIC, 3000)
        repository.complete_many(tx, TOPIC, dict.fromkeys(tasks, TaskDecision.SUCCESS))
    backend.sql("ANALYZE task")
    for roles, statements in STATEMENTS.items():
        account = accounts.user(*roles)
        for statement in statements:
            assert _plan(account.dsn, statement) == _plan(backend.dsn, statement), statement


def _plan(dsn: str, statement: str) -> list[str]:
    with psycopg.connect(dsn) as tx:
        rows = tx.execute(f"EXPLAIN (COSTS OFF) {statement}".encode(), PARAMETERS).fetchall()
        tx.rollback()
    return [line for (line,) in rows]

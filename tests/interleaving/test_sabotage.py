"""A library that is broken on purpose is found out: each rule has an order of statements that shows it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from task_api import Claim, Insertion, TaskDecision, TaskState
from task_sql.postgresql.dialect import PostgresDialect
from task_sql.postgresql.floor import Floor
from tests.interleaving import test_claims, test_dependencies, test_insertion, test_junction, test_singular
from tests.interleaving.exploration import BadScheduleError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends import Backend
    from tests.interleaving.conftest import Explore

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]
STATEMENTS = PostgresDialect.statements
LOCK = r"FOR (NO KEY )?UPDATE( OF t)?( SKIP LOCKED)?"


def without(text: str, *patterns: str) -> str:
    """A statement that lacks something it needs."""
    for pattern in patterns:
        text, number = re.subn(pattern, "", text)
        assert number, f"nothing to break: {pattern}"
    return text


def no_fence(patch: pytest.MonkeyPatch) -> None:
    """Whoever knows a task decides it."""
    one = STATEMENTS.hold.complete_one
    broken = without(one[Claim.COMMITTED], r"t\.state = 0 AND t\.owner = %\(owner\)s AND t\.token = %\(token\)s\s+AND")
    patch.setitem(one, Claim.COMMITTED, broken)


def no_owner(patch: pytest.MonkeyPatch) -> None:
    """A token alone decides, and ejecting raises none."""
    one = STATEMENTS.hold.complete_one
    patch.setitem(one, Claim.COMMITTED, without(one[Claim.COMMITTED], r" AND t\.owner = %\(owner\)s"))
    eject = STATEMENTS.claim.eject

    def broken(states: frozenset[TaskState]) -> str:
        return eject(states).replace("token = t.token + 1", "token = t.token")

    claim = replace(STATEMENTS.claim, eject=broken)
    patch.setattr(PostgresDialect, "statements", replace(STATEMENTS, claim=claim))


def blind_expiry(patch: pytest.MonkeyPatch) -> None:
    """Expiry does not lock what it has found."""
    owner = replace(STATEMENTS.owner, expire=without(STATEMENTS.owner.expire, LOCK))
    patch.setattr(PostgresDialect, "statements", replace(STATEMENTS, owner=owner))


def no_mutex(patch: pytest.MonkeyPatch) -> None:
    """Neither pushes nor junctions wait for each other."""
    patch.setattr("task_sql.postgresql.dialect.SERIALIZE", "SELECT current_setting('transaction_isolation')")


def no_dependency_lock(patch: pytest.MonkeyPatch) -> None:
    """Neither who waits nor who is waited for is locked."""
    dependency = replace(STATEMENTS.dependency, lock=without(STATEMENTS.dependency.lock, LOCK))
    patch.setattr(PostgresDialect, "statements", replace(STATEMENTS, dependency=dependency))


def no_settling(patch: pytest.MonkeyPatch) -> None:
    """A floor rises to what was seen, whoever is still to commit below it."""

    def due(floor: Floor) -> None:
        floor.sequence = floor._seen  # noqa: SLF001 - broken from inside

    patch.setattr(Floor, "due", due)


BROKEN: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], Callable[[Explore], None], str]] = {
    "completion without fence": (no_fence, test_claims.test_who_was_ejected_decides_nothing, ""),
    "eject without token": (no_owner, test_claims.test_who_was_ejected_decides_nothing, ""),
    "late completion without fence": (no_fence, test_claims.test_expiry_and_a_late_decision, ""),
    "expiry without lock": (
        blind_expiry,
        lambda explore: test_claims.test_holding_against_expiry(explore, "complete"),
        "no order of whole transactions",
    ),
    "floor without fence": (no_settling, test_claims.test_a_late_push_is_polled_nevertheless, "READY"),
    "replacing pushes without mutex": (
        no_mutex,
        lambda explore: test_insertion.test_two_pushes_end_like_one_after_the_other(
            explore, (Insertion.REPLACE, Insertion.SUPERSEDE)
        ),
        "no order of whole transactions",
    ),
    "unique pushes without mutex": (
        no_mutex,
        lambda explore: test_insertion.test_two_pushes_end_like_one_after_the_other(
            explore, (Insertion.UNIQUE, Insertion.UNIQUE)
        ),
        "no order of whole transactions",
    ),
    "junction without mutex": (no_mutex, test_junction.test_halves_that_are_completed, ""),
    "dependents without lock": (
        no_dependency_lock,
        lambda explore: test_dependencies.test_the_last_of_two_releases_who_waits(explore, TaskDecision.SUCCESS),
        "",
    ),
    "cycles without mutex": (no_mutex, test_dependencies.test_two_halves_of_a_cycle, ""),
}


@pytest.mark.parametrize(("breaks", "finds", "says"), BROKEN.values(), ids=BROKEN)
def test_a_broken_library_is_found_out(
    explore: Explore,
    monkeypatch: pytest.MonkeyPatch,
    breaks: Callable[[pytest.MonkeyPatch], None],
    finds: Callable[[Explore], None],
    says: str,
) -> None:
    """The exploration comes to an order whose end must not be, and tells it step by step."""
    breaks(monkeypatch)
    with pytest.raises(BadScheduleError, match=f"(?s){says}.*after\n +1 "):
        finds(explore)


IN_FUNCTIONS: dict[str, tuple[str, str, Callable[[Explore], None]]] = {
    "poll without row lock": ("task_poll", LOCK, test_claims.test_each_of_two_tasks_is_claimed_once),
    "singular without lock": (
        "task_candidates",
        r"WHEN NOT task_try\(.*\) THEN false",
        test_singular.test_a_sibling_comes_while_another_is_claimed,
    ),
}


@pytest.mark.parametrize(("function", "pattern", "finds"), IN_FUNCTIONS.values(), ids=IN_FUNCTIONS)
def test_a_broken_schema_is_found_out(
    backend: Backend, explore: Explore, function: str, pattern: str, finds: Callable[[Explore], None]
) -> None:
    """So it is with a function of the schema that lacks something."""
    [(definition,)] = backend.sql("SELECT pg_get_functiondef(CAST(:function AS regproc))", function=function)
    backend.sql(without(definition, pattern))
    with pytest.raises(BadScheduleError, match=r"(?s)after\n +1 "):
        finds(explore)

"""Every statement that a dialect can emit, collected by walking what it supplies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import product
from typing import TYPE_CHECKING, Any

from task_api import FINISHED, REVIVABLE, Direction, Snapshot, TaskResult, TaskState
from task_sql.oracle import claim as oracle_claim
from task_sql.oracle import dependency as oracle_dependency
from task_sql.oracle import dialect as oracle_dialect
from task_sql.oracle import push as oracle_push
from task_sql.oracle import topic as oracle_topic
from task_sql.oracle import transaction as oracle_transaction
from task_sql.oracle.dialect import OracleDialect
from task_sql.oracle.sql import Chosen
from task_sql.postgresql import claim as postgresql_claim
from task_sql.postgresql import dependency as postgresql_dependency
from task_sql.postgresql import hold as postgresql_hold
from task_sql.postgresql import push as postgresql_push
from task_sql.postgresql.dialect import PostgresDialect
from task_sql.sqlite import between as sqlite_between
from task_sql.sqlite import claim as sqlite_claim
from task_sql.sqlite import dependency as sqlite_dependency
from task_sql.sqlite import listed as sqlite_listed
from task_sql.sqlite import push as sqlite_push
from task_sql.sqlite.dialect import SqliteDialect
from task_sql.statements import Filter

if TYPE_CHECKING:
    from task_sql.statements import Statements

_STATES = [None, *TaskState]
_FILTERS = [
    Filter(topic, state, reference, identifier)
    for topic, state, reference, identifier in product((False, True), _STATES, (False, True), (False, True))
]
_LISTED = [each for each in _FILTERS if not each.topic]
_RESULTS = [result.state for result in TaskResult]

# What each family of statements is a function of.
_DOMAINS: Mapping[str, list[tuple[Any, ...]]] = {
    "claim.eject": [
        (frozenset({TaskState.ACTIVE}),),
        (frozenset({TaskState.ACTIVE, TaskState.READY, TaskState.SUSPENDED}),),
    ],
    "revive.by_state": [(state,) for state in sorted(REVIVABLE)],
    "revive.chosen": [(state,) for state in sorted(REVIVABLE)],
    "revive.again": [(state,) for state in sorted(REVIVABLE)],
    "revive.reassign": [(state,) for state in _RESULTS],
    "revive.reassign_all": [
        (state, target, skip)
        for state, target, skip in product(sorted(REVIVABLE), _RESULTS, (False, True))
        if state is not target
    ],
    "topic.purge": [(FINISHED,), *((frozenset({state}),) for state in TaskState if state)],
    "list.page": list(product(Direction, _LISTED)),
    "list.count": list(product(Snapshot, _FILTERS)),
}
_BESIDE: Mapping[str, Mapping[str, object]] = {
    "postgresql": {
        "push.draw": postgresql_push.DRAW,
        "push.plain": postgresql_push.PUSH_PLAIN,
        "push.copy_in": postgresql_push.COPY,
        "push.copy_all": postgresql_push.COPY_ALL,
        "push.serialize": postgresql_push.SERIALIZE,
        "dependency.announce": postgresql_dependency.ANNOUNCE,
        "dependency.mark": postgresql_dependency.MARK,
        "dependency.share": postgresql_dependency.SHARE,
        "dependency.look": postgresql_dependency.LOOK,
        "hold.isolation": postgresql_hold.ISOLATION,
        "claim.candidates": postgresql_claim.CANDIDATES,
        "claim.candidates_among": postgresql_claim.CANDIDATES_AMONG,
        "claim.candidates_beyond": postgresql_claim.CANDIDATES_BEYOND,
        "claim.backlog": postgresql_claim.BACKLOG,
        "claim.still": postgresql_claim.STILL,
        "claim.claim_candidates": postgresql_claim.CLAIM_CANDIDATES,
        "claim.probe": postgresql_claim.PROBE,
        "claim.last": postgresql_claim.LAST,
    },
    "oracle": {
        "push.draw": oracle_push.DRAW,
        "push.lock": oracle_push.LOCK,
        "push.unlock": oracle_push.UNLOCK,
        "dependency.suspended": oracle_dependency.SUSPENDED,
        "claim.candidates": oracle_claim.CANDIDATES,
        "claim.claim_candidates": oracle_claim.CLAIM_CANDIDATES,
        "claim.try_slots": oracle_claim.TRY_SLOTS,
        "hold.savepoint": oracle_transaction.SAVEPOINT,
        "hold.back": oracle_transaction.BACK,
        "topic.alone": oracle_topic.ALONE,
        "schema.layout": oracle_dialect.LAYOUT,
        "schema.option": oracle_dialect.OPTION,
    },
    "sqlite": {
        "push.draw": sqlite_push.DRAW,
        "push.insert": sqlite_push.PUSH_MANY,
        "push.plain": sqlite_push.PUSH_PLAIN,
        "push.plain_beyond": sqlite_push.PUSH_PLAIN_BEYOND,
        "push.passed": sqlite_push.PASSED,
        "push.plain_insert": sqlite_push.PUSH_PLAIN_MANY,
        "dependency.any": sqlite_dependency.ANY,
        "listed.look": sqlite_listed.LOOK,
        "listed.enter": sqlite_listed.ENTER,
        "claim.beside": sqlite_claim.POLL_BESIDE,
        "between.poll_beside": sqlite_between.POLL_BETWEEN_BESIDE,
        **{
            f"claim.{name.lower()}": getattr(sqlite_claim, name)
            for name in ("CLAIMS", "CLAIMS_BEGIN", "CLAIMS_BEGUN", "CLAIMS_CLEAR", "CLAIMS_FORGET", "CLAIMS_NOTE")
        },
    },
}

DIALECTS: Mapping[str, Statements] = {
    "postgresql": PostgresDialect.statements,
    "oracle": OracleDialect.statements,
    "sqlite": SqliteDialect.statements,
}


def statements(database: str) -> dict[str, dict[str, str]]:
    """Return a database's statements by name, and by variant where there are several."""
    found = dict(_walk(DIALECTS[database], ""))
    for name, entry in _BESIDE[database].items():
        found[name] = _variants(name, entry)
    return found


def _walk(value: object, prefix: str) -> Iterator[tuple[str, dict[str, str]]]:
    assert is_dataclass(value)
    for field in fields(value):
        name, entry = prefix + field.name, getattr(value, field.name)
        if is_dataclass(entry):
            yield from _walk(entry, f"{name}.")
        elif entry is not None:
            yield name, _variants(name, entry)


def _variants(name: str, entry: object) -> dict[str, str]:
    if isinstance(entry, str):
        return _parts("", entry)
    if isinstance(entry, Mapping):
        labelled = {_label(key if isinstance(key, tuple) else (key,)): text for key, text in entry.items()}
    else:
        assert callable(entry)
        labelled = {_label(arguments): entry(*arguments) for arguments in _DOMAINS[name]}
    return {part: text for label, whole in labelled.items() for part, text in _parts(label, whole).items()}


def _parts(label: str, text: str) -> dict[str, str]:
    """Take what belongs to a statement as statements of their own."""
    if not isinstance(text, Chosen):
        return {label: text}
    parts = {"find": str(text), "change": text.change, "read": text.read}
    return {f"{label} {name}".strip(): part for name, part in parts.items() if part}


def _label(key: tuple[object, ...]) -> str:
    return " ".join(map(_part, key))


def _part(part: object) -> str:
    match part:
        case Enum():
            return part.name
        case frozenset():
            return "+".join(sorted(_part(each) for each in part))
        case Filter():
            chosen = [field.name for field in fields(part) if getattr(part, field.name) is True]
            return "+".join(([] if part.state is None else [part.state.name]) + chosen) or "all"
        case _:
            return str(part)

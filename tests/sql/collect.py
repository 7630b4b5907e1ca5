"""Every statement that a dialect can emit, collected by walking what it supplies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import product
from typing import TYPE_CHECKING, Any

from task_api import FINISHED, REVIVABLE, Direction, Snapshot, TaskResult, TaskState
from task_sql.postgresql import claim as postgresql_claim
from task_sql.postgresql import push as postgresql_push
from task_sql.postgresql.dialect import PostgresDialect
from task_sql.sqlite import claim as sqlite_claim
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
        "push.serialize": postgresql_push.SERIALIZE,
        "claim.candidates": postgresql_claim.CANDIDATES,
        "claim.claim_candidates": postgresql_claim.CLAIM_CANDIDATES,
        "claim.probe": postgresql_claim.PROBE,
    },
    "sqlite": {
        "push.draw": sqlite_push.DRAW,
        "claim.beside": sqlite_claim.POLL_BESIDE,
        **{
            f"claim.{name.lower()}": getattr(sqlite_claim, name)
            for name in ("CLAIMS", "CLAIMS_BEGIN", "CLAIMS_BEGUN", "CLAIMS_FORGET", "CLAIMS_NOTE")
        },
    },
}

DIALECTS: Mapping[str, Statements] = {
    "postgresql": PostgresDialect.statements,
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
        return {"": entry}
    if isinstance(entry, Mapping):
        return {_label(key if isinstance(key, tuple) else (key,)): text for key, text in entry.items()}
    assert callable(entry)
    return {_label(arguments): entry(*arguments) for arguments in _DOMAINS[name]}


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

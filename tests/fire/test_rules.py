"""The auditor's rules, each on a few rows that break it, and on rows that look alike and do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.fire import auditor, evidence

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

Rows = dict[str, list[tuple[Any, ...]]]
_TOPICS = [(name, name == "singular", name == "stack") for name in ("plain", "singular", "stack", "modes", "unique")]
_TOPICS += [(name, False, False) for name in ("before", "after", "parts", "joined")]


def task(sequence: int, topic: str = "plain", identifier: str = "a", **fields: Any) -> tuple[Any, ...]:
    """A task that succeeded at once."""
    values = {"state": 6, "owner": "w", "attempt": 1, "token": 1, "polled": 1.0, "output": None, **fields}
    return (topic, sequence, identifier, *values.values())


def entry(sequence: int, topic: str = "plain", identifier: str = "a", **fields: Any) -> tuple[Any, ...]:
    """The ledger's row of such a task."""
    values = {
        "owner": "w",
        "attempt": 1,
        "token": 1,
        "decision": 3,
        "batch": sequence,
        "place": 0,
        "claimed": 1.0,
        "decided": 2.0,
        **fields,
    }
    return (topic, sequence, identifier, *values.values())


def note(sequence: int, topic: str = "plain", identifier: str = "a", **fields: Any) -> tuple[Any, ...]:
    """The note of its push."""
    values = {"batch": "b", "mode": "APPEND", "moment": 0.5, **fields}
    return (values["batch"], topic, sequence, identifier, values["mode"], values["moment"])


@pytest.fixture
def proof() -> Iterator[sqlite3.Connection]:
    """Evidence of nothing yet."""
    connection = evidence.create(":memory:")
    evidence.add(connection, "topic", _TOPICS)
    yield connection
    connection.close()


def complaints(proof: sqlite3.Connection, rows: Rows) -> set[str]:
    """The rules that complain about these rows, those about numbers of tasks aside."""
    for table, given in rows.items():
        evidence.add(proof, table, given)
    if "counted" not in rows:
        proof.execute("INSERT INTO counted SELECT topic, state, count(*) FROM task GROUP BY topic, state")
    evidence.finish(proof)
    return set(auditor.audit(proof))


_DONE: Rows = {"task": [task(1)], "ledger": [entry(1)], "note": [note(1)], "diary": [("commit", "b", 1)]}
_SINGULAR: Rows = {
    "task": [task(1, "singular"), task(2, "singular")],
    "note": [note(1, "singular"), note(2, "singular")],
    "diary": [("commit", "b", 2)],
}
_MODES: Rows = {
    "note": [note(1, "modes", mode="REPLACE", moment=1.0), note(2, "modes", mode="REPLACE", moment=3.0)],
    "diary": [("commit", "b", 2)],
}
_WAITING: Rows = {
    "note": [note(1, "before"), note(2, "after")],
    "link": [(2, 1, 0.5)],
    "diary": [("commit", "b", 2)],
}
_PARTS: Rows = {
    "task": [task(1, "parts", "g-0-2"), task(2, "parts", "g-1-2"), task(3, "joined", "g-0"), task(4, "joined", "g-1")],
    "note": [note(1, "parts", "g-0-2"), note(2, "parts", "g-1-2"), note(3, "joined", "g-0"), note(4, "joined", "g-1")],
}
_PART_ENTRIES = [entry(1, "parts", "g-0-2"), entry(2, "parts", "g-1-2", decided=4.0)]

CLEAN: dict[str, Rows] = {
    "done": _DONE,
    "retried": {**_DONE, "task": [task(1, token=2, attempt=2)], "ledger": [entry(1, decision=0), entry(1, token=2)]},
    "failed": {**_DONE, "task": [task(1, state=3, output="planned")], "ledger": [entry(1, decision=0)]},
    "rolled back": {**_DONE, "diary": [("commit", "b", 1), ("rollback", "c", 4)]},
    "in doubt": {**_DONE, "diary": [("begin", "b", 0)]},
    "one after the other": {
        **_SINGULAR,
        "ledger": [entry(1, "singular"), entry(2, "singular", claimed=2.0, decided=3.0)],
    },
    "held while it was replaced": {
        **_MODES,
        "task": [task(1, "modes", polled=2.0), task(2, "modes", polled=4.0)],
        "ledger": [entry(1, "modes"), entry(2, "modes")],
    },
    "replaced": {
        **_MODES,
        "task": [task(1, "modes", state=8, token=0, attempt=0, owner=None, polled=None), task(2, "modes")],
        "ledger": [entry(2, "modes")],
    },
    "deleted": {
        "task": [task(2, "modes")],
        "ledger": [entry(2, "modes")],
        "note": [note(1, "modes", mode="DELETE"), note(2, "modes", mode="DELETE")],
    },
    "waited": {
        **_WAITING,
        "task": [task(1, "before"), task(2, "after")],
        "ledger": [entry(1, "before"), entry(2, "after", claimed=3.0, decided=4.0)],
    },
    "not run": {
        **_WAITING,
        "task": [
            task(1, "before", state=3),
            task(2, "after", state=3, token=0, attempt=0, output="not run, because a of topic 'before' FAILED"),
        ],
        "ledger": [entry(1, "before", decision=0)],
    },
    "joined": {
        **_PARTS,
        "ledger": [*_PART_ENTRIES, *(entry(n, "joined", f"g-{n - 3}", claimed=5.0, decided=6.0) for n in (3, 4))],
    },
}
BROKEN: dict[str, tuple[str, Rows]] = {
    "a commit without notes": ("nothing lost", {"diary": [("commit", "b", 1)]}),
    "a note without a task": ("nothing lost", {"note": [note(1)]}),
    "a task without a note": ("nothing from nowhere", {**_DONE, "note": [], "diary": []}),
    "a note that was rolled back": ("nothing from nowhere", {**_DONE, "diary": [("rollback", "b", 1)]}),
    "a wrong count": ("counts agree", {**_DONE, "counted": [("plain", 6, 2)]}),
    "a number given twice": ("counts agree", {**_DONE, "note": [note(1), note(1, batch="c")]}),
    "another identifier": ("counts agree", {**_DONE, "note": [note(1, identifier="b")]}),
    "more attempts than claims": ("counts agree", {**_DONE, "task": [task(1, attempt=2)]}),
    "an open task": ("nothing undecided", {**_DONE, "task": [task(1, state=1)], "ledger": []}),
    "one claim decided twice": ("nothing decided twice", {**_DONE, "ledger": [entry(1), entry(1, owner="v")]}),
    "two claims decided": (
        "nothing decided twice",
        {**_DONE, "task": [task(1, token=2)], "ledger": [entry(1), entry(1, token=2)]},
    ),
    "an effect of work that raised": (
        "no effect without its decision",
        {**_DONE, "task": [task(1, token=2)], "ledger": [entry(1, decision=9), entry(1, token=2)]},
    ),
    "an effect of another owner": (
        "no effect without its decision",
        {**_DONE, "ledger": [entry(1), entry(1, owner="v", token=2)]},
    ),
    "a success without an effect": ("no decision without its effect", {**_DONE, "ledger": []}),
    "a failure without a reason": (
        "no decision without its effect",
        {**_DONE, "task": [task(1, state=3, output="boom")], "ledger": []},
    ),
    "a batch in the wrong order": (
        "order",
        {
            "task": [task(1), task(2)],
            "note": [note(1), note(2)],
            "ledger": [entry(1, batch=7, place=1), entry(2, batch=7, place=0)],
        },
    ),
    "a later task first": (
        "order",
        {**_SINGULAR, "ledger": [entry(1, "singular", claimed=3.0, decided=4.0), entry(2, "singular")]},
    ),
    "claims that overlap": (
        "singular",
        {**_SINGULAR, "ledger": [entry(1, "singular"), entry(2, "singular", claimed=1.5, decided=3.0)]},
    ),
    "begun after it was replaced": (
        "replacing",
        {
            **_MODES,
            "task": [task(1, "modes", polled=3.5), task(2, "modes", polled=4.0)],
            "ledger": [entry(1, "modes"), entry(2, "modes")],
        },
    ),
    "redundant for nothing": (
        "replacing",
        {"task": [task(1, state=8, token=0, attempt=0)], "note": [note(1)]},
    ),
    "two unique ones": (
        "unique",
        {
            "task": [task(1, "unique"), task(2, "unique")],
            "note": [note(1, "unique", mode="UNIQUE"), note(2, "unique", mode="UNIQUE")],
            "ledger": [entry(1, "unique"), entry(2, "unique")],
        },
    ),
    "joined too early": (
        "junctions",
        {
            **_PARTS,
            "ledger": [*_PART_ENTRIES, *(entry(n, "joined", f"g-{n - 3}", claimed=3.0, decided=6.0) for n in (3, 4))],
        },
    ),
    "a part that brought nothing": (
        "junctions",
        {"task": [task(1, "parts", "g-0-2")], "note": [note(1, "parts", "g-0-2")], "ledger": _PART_ENTRIES[:1]},
    ),
    "begun before what it waits for": (
        "dependencies",
        {
            **_WAITING,
            "task": [task(1, "before"), task(2, "after")],
            "ledger": [entry(1, "before"), entry(2, "after", claimed=1.5)],
        },
    ),
    "not run for nothing": (
        "dependencies",
        {
            **_WAITING,
            "task": [
                task(1, "before"),
                task(2, "after", state=3, token=0, attempt=0, output="not run, because a of topic 'before' FAILED"),
            ],
            "ledger": [entry(1, "before")],
        },
    ),
    "a session": ("no session left in a transaction", {"session": [("x", "idle in transaction", 3.0, "SELECT 1")]}),
    "a lock": ("no lock left", {"lock": [("advisory", "ExclusiveLock")]}),
    "a member": ("all members ended well", {"member": [("worker-0", "ended by itself")]}),
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_is_right_is_not_complained_about(proof: sqlite3.Connection, name: str) -> None:
    """No rule complains."""
    assert complaints(proof, CLEAN[name]) == set()


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_told_by_its_rule(proof: sqlite3.Connection, name: str) -> None:
    """The rule complains; one about effects may join in where a task was decided twice."""
    rule, rows = BROKEN[name]
    beside = {"nothing decided twice", "no effect without its decision"}
    found = complaints(proof, rows)
    assert rule in found
    assert found <= (beside if rule in beside else {rule})


def test_every_rule_is_tried() -> None:
    """Each has rows that break it."""
    assert {rule for rule, _ in BROKEN.values()} == auditor.RULES.keys()

"""Which values go where: one strategy for each parameter of a repository, good values and bad ones."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from task_api import (
    Claim,
    Condition,
    Counting,
    Dependency,
    Direction,
    Insertion,
    Junction,
    Listing,
    OnAbort,
    Order,
    Revivification,
    Snapshot,
    Task,
    TaskCreation,
    TaskDecision,
    TaskRef,
    TaskRepository,
    TaskResult,
    TaskState,
    chain,
    chord,
    group,
)
from task_sql import SqlTaskRepository
from tests.fuzz.values import (
    Made,
    Values,
    anything,
    items,
    making,
    mappings,
    moments,
    numbers,
    of,
    spans,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOPIC = "topic"
HOUR = timedelta(hours=1)
THIS, THAT = object(), object()
"""Stand for tasks of the scene: one that is held, one that is SUSPENDED."""

names = st.sampled_from([TOPIC, TOPIC, "elsewhere"]) | texts
sequences = st.integers(0, 20) | numbers
tasks: Values = st.one_of(
    st.sampled_from([THIS, THAT]),
    making(Task, sequences, texts, token=numbers | st.integers(0, 2), claim=of(Claim), input=texts),
)
refs: Values = tasks | making(TaskRef, names, sequences | texts)
dues = st.none() | moments | spans
decisions: Values = st.one_of(
    making(TaskDecision, of(TaskResult), message=texts | st.none(), due=dues, continued=st.booleans() | texts),
    making(TaskDecision.success, texts),
    making(TaskDecision.failure, texts | st.builds(ValueError, texts)),
    making(TaskDecision.suspension, texts, due=dues),
    making(TaskDecision.retry, spans | moments, texts),
)
creations: Values = texts | making(
    TaskCreation,
    texts,
    input=texts,
    reference=texts,
    suspended=st.booleans() | numbers,
    due=dues,
    after=items(refs),
    on_abort=of(OnAbort),
)
graphs: Values = st.recursive(
    creations,
    lambda inner: making(chain, inner, inner) | making(group, inner) | making(chord, making(group, inner), inner),
    max_leaves=4,
)
states: Values = st.one_of(of(TaskState), items(of(TaskState)), st.frozensets(st.sampled_from(TaskState)))


@dataclass(frozen=True)
class Argument:
    """What may be passed for a parameter."""

    good: Values
    """What a careful caller passes."""
    odd: Values
    """What fits the place, more or less; anything else is tried too."""

    def bad(self) -> Values:
        """What a careless caller passes."""
        return self.odd | anything


def _argument(good: object, odd: Values) -> Argument:
    return Argument(good if isinstance(good, st.SearchStrategy) else st.just(good), odd)


ARGUMENTS: dict[str, Argument] = {
    "active": _argument(st.booleans(), numbers),
    "claim": _argument(st.sampled_from(Claim), of(Claim)),
    "condition": _argument(st.sampled_from(Condition), of(Condition)),
    "counting": _argument(
        st.just(Counting()), making(Counting, names, of(TaskState), reference=texts, identifier=texts)
    ),
    "creation": _argument("a", creations),
    "creations": _argument(
        st.sampled_from([["a", "b", "a"], [str(number) for number in range(120)]]),
        st.one_of(items(creations), mappings(texts, texts | st.none()), st.lists(texts, min_size=100, max_size=101)),
    ),
    "decision": _argument(TaskDecision.SUCCESS, decisions),
    "decisions": _argument(Made(dict, ([(THIS, TaskDecision.SUCCESS)],)), mappings(tasks, decisions)),
    "dependencies": _argument([], items(making(Dependency, refs, refs))),
    "direction": _argument(st.sampled_from(Direction), of(Direction)),
    "dispatcher": _argument(nullcontext, st.just(nullcontext)),
    "first": _argument(st.integers(0, 5), sequences),
    "graph": _argument(Made(chain, ("a", "b")), graphs),
    "groups": _argument([["SUSPENDED"]], items(items(texts), st.sets(texts, max_size=2))),
    "high": _argument(st.sampled_from([None, "x"]), texts),
    "input": _argument(st.sampled_from([None, "text"]), texts),
    "insertion": _argument(st.sampled_from(Insertion), of(Insertion)),
    "junction": _argument(st.sampled_from(Junction), of(Junction)),
    "last": _argument(st.integers(5, 50), sequences),
    "lease": _argument(st.sampled_from([HOUR]), spans),
    "listing": _argument(st.just(Listing()), making(Listing, of(TaskState), reference=texts, identifier=texts)),
    "lock": _argument(st.booleans(), numbers),
    "low": _argument(st.sampled_from([None, "a"]), texts),
    "message": _argument(st.sampled_from([None, "why"]), texts),
    "moment": _argument(datetime(2026, 1, 1, tzinfo=UTC), moments),
    "order": _argument(st.sampled_from(Order), of(Order)),
    "preceding": _argument(st.booleans(), numbers),
    "ref": _argument(Made(TaskRef, (TOPIC, 1)), refs),
    "result": _argument(st.sampled_from(TaskResult), of(TaskResult)),
    "results": _argument(Made(dict, ([(THAT, TaskResult.SUCCESS)],)), mappings(tasks, of(TaskResult))),
    "revivification": _argument(st.sampled_from(Revivification), of(Revivification)),
    "sequence": _argument(st.integers(0, 5), sequences),
    "since": _argument(st.none(), moments),
    "size": _argument(st.integers(0, 5), numbers),
    "skip_locked": _argument(st.booleans(), numbers),
    "snapshot": _argument(st.sampled_from(Snapshot), of(Snapshot)),
    "start": _argument(st.none() | st.integers(0, 5), numbers | moments),
    "state": _argument(st.sampled_from([TaskState.FAILED, TaskState.SUSPENDED]), of(TaskState)),
    "states": _argument(st.sampled_from([[TaskState.FAILED], {TaskState.SUSPENDED}]), states),
    "strict": _argument(st.booleans(), numbers),
    "task": _argument(st.sampled_from([THIS, THAT]), tasks),
    "tasks": _argument(st.sampled_from([[THIS], [THAT]]), items(tasks)),
    "timeout": _argument(HOUR, spans),
    "topic": _argument(TOPIC, names),
    "until": _argument(st.none(), moments),
}
"""By the parameter's name, which means the same in every call."""

# A wait is never long: what is allowed at all is over at once.
_AT_ONCE = timedelta()
SPECIAL: dict[tuple[str, str], Argument] = {
    ("wait", "timeout"): Argument(st.just(_AT_ONCE), st.sampled_from([_AT_ONCE, -HOUR, timedelta.max, timedelta.min])),
    ("wait", "dispatcher"): Argument(st.just(nullcontext), st.just(nullcontext)),
}


def methods() -> dict[str, list[str]]:
    """The public methods of a repository, with the parameters beside the transaction."""
    found = {}
    for name in dir(TaskRepository):
        method = getattr(SqlTaskRepository, name, None)
        if not name.startswith("_") and callable(method):
            found[name] = [each for each in inspect.signature(method).parameters if each not in {"self", "tx"}]
    return found


def argument(method: str, parameter: str) -> Argument:
    """What is passed for a parameter."""
    return SPECIAL.get((method, parameter)) or ARGUMENTS[parameter]


@st.composite
def calls(draw: st.DrawFn, method: str, parameters: Sequence[str]) -> Mapping[str, Any]:
    """Arguments of a call: one or two of them bad, the others good, so that many a call goes deep."""
    wrong = set(draw(st.lists(st.sampled_from(parameters), min_size=1, max_size=2))) if parameters else set()
    drawn = {}
    for name in parameters:
        known = argument(method, name)
        endless = method == "wait" and name in {"timeout", "dispatcher"}
        bad = known.odd if endless else known.bad()
        drawn[name] = draw(bad if name in wrong else known.good)
    return drawn


__all__ = ["ARGUMENTS", "SPECIAL", "THAT", "THIS", "TOPIC", "argument", "calls", "methods"]

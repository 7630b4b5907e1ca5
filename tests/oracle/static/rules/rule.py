"""What rules are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from tests.oracle.static.tokens import Level, Statement

Rule: TypeAlias = Callable[[Statement], Iterator[str]]

SET_OPERATORS: Final = frozenset({"UNION", "INTERSECT", "MINUS", "EXCEPT"})
_AFTER_FROM: Final = SET_OPERATORS | {
    "WHERE", "CONNECT", "START", "GROUP", "HAVING", "ORDER", "OFFSET", "FETCH", "FOR", "RETURNING",
}  # fmt: skip
AGGREGATES: Final = frozenset({"AVG", "COUNT", "LISTAGG", "MAX", "MEDIAN", "MIN", "STDDEV", "SUM", "VARIANCE"})


def blocks(statement: Statement) -> Iterator[Level]:
    """Give each query block: what begins with a SELECT, up to the next one beside it. What is granted is none."""
    if statement.verb in {"GRANT", "REVOKE"}:
        return
    for level in statement.levels():
        yield from blocks_of(level)


def blocks_of(level: Level) -> Iterator[Level]:
    """Give the query blocks that stand in a level, not those within others in it."""
    items = level.visible
    starts = [place for place, word in enumerate(level.words) if word == "SELECT"]
    for start, stop in pairwise([*starts, len(items)]):
        yield Level(level.before, level.outer, items[start:stop])


def sources(block: Level) -> Level:
    """Return the FROM clause of a query block, joins and their conditions included."""
    start = block.find("FROM") + 1
    if not start:
        return Level()
    words = block.words
    stop = next((place for place in range(start, len(words)) if words[place] in _AFTER_FROM), len(words))
    return Level(items=block.visible[start:stop])


def selected(block: Level) -> Level:
    """Return the select list of a query block."""
    words = block.words
    start = 2 if words[1:2] in (["DISTINCT"], ["UNIQUE"], ["ALL"]) else 1
    stop = block.find("FROM")
    return Level(items=block.visible[start : stop if stop >= 0 else None])


def aggregates(block: Level) -> bool:
    """Tell whether a query block makes one row of several."""
    for level in block.own():
        words = level.words
        for place, word in enumerate(words[:-1]):
            if word in AGGREGATES and words[place + 1] == "()" and not _windowed(words[place + 2 :]):
                return True
    return block.has("GROUP", "BY") or block.has("HAVING")


def _windowed(after: list[str]) -> bool:
    while after[:1] in (["KEEP"], ["WITHIN"], ["GROUP"], ["()"]):
        after = after[1:]
    return after[:1] == ["OVER"]

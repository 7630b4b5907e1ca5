"""Rules on FOR UPDATE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.oracle.static.tokens import Level

from .rule import SET_OPERATORS, Rule, aggregates, blocks_of, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.oracle.static.tokens import Statement


def locks_plain_rows(statement: Statement) -> Iterator[str]:
    """Only rows that are rows of a table can be locked (ORA-02014)."""
    root = statement.root
    if not root.has("FOR", "UPDATE"):
        return
    for level in (root, *_views(root)):
        for reason in _not_rows(level):
            yield f"{reason} with FOR UPDATE (ORA-02014)"


def _views(level: Level) -> Iterator[Level]:
    """Give the queries that a query reads as tables."""
    for block in blocks_of(level):
        for item in sources(block).items:
            if isinstance(item, Level) and item.is_query:
                yield item
                yield from _views(item)


def _not_rows(level: Level) -> Iterator[str]:
    """Give why what a query gives are not rows of a table."""
    for word in sorted(SET_OPERATORS.intersection(level.words)):
        yield word
    for block in blocks_of(level):
        if block.words[1:2] in (["DISTINCT"], ["UNIQUE"]):
            yield "DISTINCT"
        if block.has("GROUP", "BY"):
            yield "GROUP BY"
        elif aggregates(block):
            yield "an aggregate"
        if block.has("CONNECT", "BY"):
            yield "CONNECT BY"
        if block.has("FETCH") or block.has("OFFSET"):
            yield "row limiting"
        for word in ("ROWNUM", "OVER"):
            if any(inner.has(word) for inner in block.own()):
                yield word


def locks_at_the_end(statement: Statement) -> Iterator[str]:
    """FOR UPDATE ends the outermost query, and nothing else (ORA-00907, ORA-00933)."""
    for level in statement.levels():
        if not level.has("FOR", "UPDATE"):
            continue
        if level is not statement.root or statement.verb not in {"SELECT", "WITH"}:
            yield "FOR UPDATE is for the outermost query (ORA-00907)"
        after = level.words[level.find("FOR", "UPDATE") + 2 :]
        if {"ORDER", "WHERE", "FETCH", "OFFSET", "GROUP"}.intersection(after):
            yield "FOR UPDATE comes last (ORA-00933)"


RULES: Final[tuple[Rule, ...]] = (locks_plain_rows, locks_at_the_end)

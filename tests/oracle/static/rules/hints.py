"""Rules on hints, which Oracle passes over in silence when they are wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tests.oracle.static.tokens import Kind, Level, Token

from .rule import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.oracle.static.tokens import Statement

HINT: Final = re.compile(r"(\w+)(?:\s*\(([^)]*)\))?")
_NAMING: Final = frozenset({"INDEX", "INDEX_ASC", "INDEX_DESC", "LEADING", "USE_NL", "USE_HASH", "FULL", "CARDINALITY"})
_SEVERAL: Final = frozenset({"LEADING", "USE_NL", "USE_HASH"})
_PLAIN: Final = frozenset({"FIRST_ROWS", "UNNEST", "NO_UNNEST", "MATERIALIZE", "INLINE", "NO_MERGE", "QB_NAME"})
_VERBS: Final = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"})


def hints_follow_a_verb(statement: Statement) -> Iterator[str]:
    """A hint is one only at once after the verb."""
    before = ""
    for token in statement.tokens:
        if token.kind is Kind.HINT and before not in _VERBS:
            yield f"{token.text} is no hint where it stands, after {before or 'nothing'}"
        before = token.text


def hints_are_known(statement: Statement) -> Iterator[str]:
    """A hint is one of those that we use, and names aliases that there are."""
    for level in statement.levels():
        for place, item in enumerate(level.items):
            if not isinstance(item, Token) or item.kind is not Kind.HINT:
                continue
            rest = Level(items=level.items[place:])
            words = sources(rest).words or rest.words
            for name, given in HINT.findall(item.text[3:-2].upper()):
                aliases = given.split() if name in _SEVERAL else given.split()[:1]
                if name not in _NAMING | _PLAIN:
                    yield f"{name} is no hint that we use"
                elif name in _NAMING and not (aliases and set(aliases) <= set(words)):
                    yield f"{name} names {given or 'nothing'}, which the query does not"


RULES: Final[tuple[Rule, ...]] = (hints_follow_a_verb, hints_are_known)

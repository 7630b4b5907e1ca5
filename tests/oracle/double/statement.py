"""A statement of Oracle, ready to be executed on PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from tests.oracle.double.ddl import definitions
from tests.oracle.double.dictionary import CHANGES, DEFINITIONS
from tests.oracle.double.errors import dpy, ora, refuse
from tests.oracle.double.queries import direct_binds, translate, typed_binds
from tests.oracle.double.refusals import check
from tests.oracle.double.tokens import Kind, Tokens, find, is_words, tokens

_EMPTY_STATEMENT: Final = 2066
_PROGRAMS: Final = frozenset({"BEGIN", "DECLARE", "CALL"})
_PROGRAM_UNITS: Final = frozenset({"PROCEDURE", "FUNCTION", "TRIGGER", "PACKAGE", "TYPE"})


class Form(Enum):
    """What a statement does to a transaction."""

    QUERY = "begins none"
    CHANGE = "begins one"
    DEFINITION = "ends one before and after"
    CONTROL = "is about it"


class Lock(Enum):
    """Which rows a query locks, and when."""

    NONE = "none"
    ALL = "all, when it is executed"
    SKIP = "those that are free, as they are fetched"

    @property
    def holds(self) -> bool:
        """Whether anything is locked."""
        return self is not Lock.NONE


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """What is known of a statement once it is parsed, which happens once for each text."""

    form: Form
    verb: str
    tokens: tuple[tuple[Kind, str], ...] = ()
    """What PostgreSQL gets, binds open."""
    definitions: tuple[str, ...] = ()
    """What PostgreSQL gets for a definition."""
    binds: tuple[str, ...] = ()
    """The names that need a value."""
    into: tuple[str, ...] = ()
    """The names that take what RETURNING gives."""
    names: frozenset[str] = frozenset()
    """Both."""
    indirect: frozenset[str] = frozenset()
    """Those binds that are part of an expression, where a text may have 4000 bytes."""
    table: str = ""
    """The table that is changed."""
    lock: Lock = Lock.NONE
    sequences: tuple[str, ...] = ()
    """The sequences that are drawn from."""


@lru_cache(2000)
def parse(text: str) -> Statement:
    """Read a statement; raise what Oracle would raise for one that it can't read."""
    found = tokens(text)
    if not found:
        raise dpy(_EMPTY_STATEMENT)
    verb = found[0].text
    if verb in _PROGRAMS or (verb == "CREATE" and _PROGRAM_UNITS & {token.text for token in found[:5]}):
        refuse("executes no PL/SQL")
    check(found)
    if verb in DEFINITIONS and not is_words(found, 0, "ALTER", "SESSION"):
        return Statement(Form.DEFINITION, verb, definitions=tuple(definitions(found)))
    if verb in {"COMMIT", "ROLLBACK", "SAVEPOINT", "SET", "ALTER"}:
        return Statement(Form.CONTROL, verb, tokens=tuple(found))
    if verb not in CHANGES | {"SELECT", "WITH", "("}:
        raise ora(900, f"invalid SQL statement: {verb}")
    return _executable(found, verb)


def _executable(found: Tokens, verb: str) -> Statement:
    indirect = {token.text for token in found if token.kind is Kind.BIND}
    found, into = _split_into(found)
    binds = tuple(dict.fromkeys(token.text for token in found if token.kind is Kind.BIND))
    lock = find(found, "FOR", "UPDATE")
    sequences = tuple(
        found[place - 2].text.lower() for place in range(2, len(found)) if is_words(found, place - 1, ".", "NEXTVAL")
    )
    return Statement(
        Form.CHANGE if verb in CHANGES else Form.QUERY,
        verb,
        tokens=tuple(translate(typed_binds(found))),
        binds=binds,
        into=into,
        names=frozenset({*binds, *into}),
        indirect=frozenset(indirect - direct_binds(found)),
        table=found[1 if verb == "UPDATE" else 2].text if verb in CHANGES else "",
        lock=Lock.NONE if lock < 0 else Lock.SKIP if find(found, "SKIP", start=lock) >= 0 else Lock.ALL,
        sequences=sequences,
    )


def _split_into(found: Tokens) -> tuple[Tokens, tuple[str, ...]]:
    """Take the INTO of a RETURNING away; PostgreSQL gives rows for it."""
    returning = find(found, "RETURNING")
    if returning < 0:
        return found, ()
    into = find(found, "INTO", start=returning)
    return found[:into], tuple(token.text for token in found[into:] if token.kind is Kind.BIND)


@lru_cache(5000)
def rendered(statement: Statement, kinds: tuple[tuple[str, str], ...]) -> str:
    """Write a statement for psycopg, where the binds have values of these types."""
    types = dict(kinds)
    parts = []
    for kind, text in statement.tokens:
        if kind in (Kind.BIND, Kind.TYPED):
            type_ = types[text]
            if type_ == "null":
                parts.append("CAST(NULL AS text)" if kind is Kind.TYPED else "NULL")
            else:
                parts.append(f"CAST(%({text})s AS {type_})")
        else:
            parts.append(text.replace("%", "%%"))
    return " ".join(parts)

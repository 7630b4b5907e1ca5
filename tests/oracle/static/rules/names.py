"""Rules on names."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tests.oracle.static.tokens import Kind, Level

from .rule import Rule, blocks, selected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.oracle.static.tokens import Statement

RESERVED: Final = frozenset(
    """
    ACCESS ADD ALL ALTER AND ANY AS ASC AUDIT BETWEEN BY CHAR CHECK CLUSTER COLUMN COLUMN_VALUE COMMENT COMPRESS CONNECT
    CREATE CURRENT DATE DECIMAL DEFAULT DELETE DESC DISTINCT DROP ELSE EXCLUSIVE EXISTS FILE FLOAT FOR FROM GRANT GROUP
    HAVING IDENTIFIED IMMEDIATE IN INCREMENT INDEX INITIAL INSERT INTEGER INTERSECT INTO IS LEVEL LIKE LOCK LONG
    MAXEXTENTS MINUS MLSLABEL MODE MODIFY NESTED_TABLE_ID NOAUDIT NOCOMPRESS NOT NOWAIT NULL NUMBER OF OFFLINE ON ONLINE
    OPTION OR ORDER PCTFREE PRIOR PUBLIC RAW RENAME RESOURCE REVOKE ROW ROWID ROWNUM ROWS SELECT SESSION SET SHARE SIZE
    SMALLINT START SUCCESSFUL SYNONYM SYSDATE TABLE THEN TO TRIGGER UID UNION UNIQUE UPDATE USER VALIDATE VALUES VARCHAR
    VARCHAR2 VIEW WHENEVER WHERE WITH
    """.split()  # noqa: SIM905 - read more easily than a list
)
_LONGEST: Final = 128
_PSEUDO: Final = frozenset({"ROWID", "COLUMN_VALUE"})
_TYPES: Final = frozenset({"CHAR", "DATE", "DECIMAL", "FLOAT", "INTEGER", "NUMBER", "RAW", "SMALLINT", "VARCHAR2"})
_NEVER_IN_DML: Final = frozenset(
    """
    ACCESS ADD ALTER AUDIT CLUSTER COLUMN COMMENT COMPRESS CREATE DROP EXCLUSIVE FILE GRANT IDENTIFIED IMMEDIATE
    INCREMENT INDEX INITIAL LOCK LONG MAXEXTENTS MLSLABEL MODE MODIFY NOAUDIT NOCOMPRESS OFFLINE ONLINE OPTION PCTFREE
    PUBLIC RENAME RESOURCE REVOKE SESSION SHARE SIZE SUCCESSFUL SYNONYM TRIGGER VALIDATE VARCHAR VIEW WHENEVER
    """.split()  # noqa: SIM905 - read more easily than a list
)
_CONSTRAINTS: Final = frozenset({"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "SUPPLEMENTAL"})
_OBJECTS: Final = frozenset({"TABLE", "INDEX", "SEQUENCE", "VIEW", "SAVEPOINT"})
_PARTS: Final = frozenset({"CONSTRAINT", "PARTITION"})
_BETWEEN: Final = frozenset({"FOR", "BY"})


def no_reserved_bind(statement: Statement) -> Iterator[str]:
    """A variable is not named by a reserved word, unless in quotes (ORA-01745)."""
    for token in statement.tokens:
        if token.kind is Kind.BIND and token.text[1:].upper() in RESERVED:
            yield f"{token.text} is named by a reserved word (ORA-01745)"


def no_reserved_name(statement: Statement) -> Iterator[str]:
    """Columns, tables and aliases are not named by reserved words (ORA-00904, ORA-00923, ORA-00903)."""
    for name in (*_after_dots(statement), *_aliases(statement), *_described(statement), *_created(statement)):
        yield f"{name} is a reserved word (ORA-00904)"
    if statement.is_dml:
        for name in _out_of_place(statement):
            yield f"{name} is a reserved word (ORA-00936)"


def _after_dots(statement: Statement) -> Iterator[str]:
    for level in statement.levels():
        for dot, word in pairwise(level.words):
            if dot == "." and word in RESERVED - _PSEUDO:
                yield word


def _aliases(statement: Statement) -> Iterator[str]:
    for block in blocks(statement):
        for part in selected(block).parts():
            if part[-2:-1] == ["AS"] and part[-1] in RESERVED:
                yield part[-1]


def _described(statement: Statement) -> Iterator[str]:
    """Give the reserved words among columns that are created, inserted into, or read from JSON."""
    for level in statement.levels():
        if not _describes(statement, level):
            continue
        for part in level.parts():
            if part and part[0] in RESERVED and not (part[0] in _CONSTRAINTS and len(part) > 1):
                yield part[0]


def _describes(statement: Statement, level: Level) -> bool:
    """Tell whether a level holds columns by name."""
    if level.before == "COLUMNS":
        return True
    outer = level.outer
    if outer is not statement.root:
        return False
    words = outer.words[: next(place for place, item in enumerate(outer.visible) if item is level)]
    if statement.verb == "CREATE" and words[-2:-1] in (["TABLE"], ["VIEW"]):
        return True
    if statement.verb == "ALTER":
        return words[-1:] in (["ADD"], ["MODIFY"])
    return words[-2:-1] == ["INTO"] or words[-1:] == ["INSERT"]


def _created(statement: Statement) -> Iterator[str]:
    """Give the reserved words among the names of what is created, changed or dropped."""
    if statement.is_dml:
        return
    words = statement.root.words
    place = next((place for place, word in enumerate(words) if word in _OBJECTS), -1)
    if place >= 0:
        yield from RESERVED.intersection(words[place + 1 : place + 2])
    for level in statement.levels():
        yield from (after for word, after in pairwise(level.words) if word in _PARTS and after in RESERVED - _BETWEEN)


def _out_of_place(statement: Statement) -> Iterator[str]:
    """Give the reserved words that can only be meant as names where they stand."""
    connected = any(level.has("CONNECT", "BY") for level in statement.levels())
    for level in statement.levels():
        typed = level.before in {"CAST", "COLUMNS", "TREAT"}
        words = level.words
        for place, word in enumerate(words):
            before, after = words[place - 1 : place], words[place + 1 : place + 2]
            if before == ["."]:
                continue
            literal = word == "DATE" and after != [] and after[0].startswith("'")
            length = word == "CHAR" and level.before == "VARCHAR2"
            if (
                word in _NEVER_IN_DML
                or (word == "LEVEL" and not connected)
                or (word == "START" and after != ["WITH"])
                or (word in _TYPES and not (typed or literal or length or before == ["RETURNING"]))
            ):
                yield word


def no_long_name(statement: Statement) -> Iterator[str]:
    """A name has at most 128 bytes (ORA-00972)."""
    for token in statement.tokens:
        name = token.text.strip(':"')
        if token.kind in {Kind.WORD, Kind.QUOTED, Kind.BIND} and len(name.encode()) > _LONGEST:
            yield f"{name[:20]}... is longer than {_LONGEST} bytes (ORA-00972)"


def no_small_letters_in_quotes(statement: Statement) -> Iterator[str]:
    """A name in quotes is another one than the same without, unless it is in capitals."""
    for token in statement.tokens:
        if token.kind is Kind.QUOTED and token.text != token.text.upper():
            yield f"{token.text} is another name than without quotes (ORA-00904)"


RULES: Final[tuple[Rule, ...]] = (
    no_reserved_bind,
    no_reserved_name,
    no_long_name,
    no_small_letters_in_quotes,
)

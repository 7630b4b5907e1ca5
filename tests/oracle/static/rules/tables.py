"""Rules on what is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.oracle.static.tokens import GROUP, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.oracle.static.tokens import Statement

    from .rule import Rule

_TYPES: Final = frozenset({"NUMBER", "VARCHAR2", "CLOB", "BLOB", "RAW", "DATE", "TIMESTAMP", "GENERATED"})
_CONSTRAINTS: Final = frozenset({"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"})
_BYTES: Final = 4000
_DIGITS: Final = 38


def texts_have_a_length_in_characters(statement: Statement) -> Iterator[str]:
    """A text's length is given (ORA-00906), in characters, and fits into 4000 bytes (ORA-00910)."""
    for level in statement.levels():
        for place, word in enumerate(level.words):
            if word not in {"VARCHAR2", "VARCHAR", "NVARCHAR2"}:
                continue
            length = level.visible[place + 1] if place + 1 < len(level.visible) else None
            words = length.words if isinstance(length, Level) else []
            if word != "VARCHAR2":
                yield f"{word}: write VARCHAR2(n CHAR)"
            elif not words:
                yield "VARCHAR2 needs a length (ORA-00906)"
            elif words[1:] != ["CHAR"]:
                yield "VARCHAR2 counts bytes; write VARCHAR2(n CHAR)"
            elif not words[0].isdigit() or not 1 <= int(words[0]) <= _BYTES:
                yield f"VARCHAR2 has at most {_BYTES} bytes (ORA-00910)"


def numbers_fit(statement: Statement) -> Iterator[str]:
    """A number has at most 38 digits (ORA-01727)."""
    for level in statement.levels():
        if level.before == "NUMBER" and level.words and level.words[0].isdigit() and int(level.words[0]) > _DIGITS:
            yield f"NUMBER has at most {_DIGITS} digits (ORA-01727)"


def columns_have_types_of_oracle(statement: Statement) -> Iterator[str]:
    """A column has one of the types that we use (ORA-00902)."""
    for part in _columns(statement):
        if part[1:2] and part[1] not in _TYPES:
            yield f"{part[0]}: {part[1]} is no type that we use (ORA-00902)"


def defaults_come_first(statement: Statement) -> Iterator[str]:
    """DEFAULT comes before constraints (ORA-00907)."""
    for part in _columns(statement):
        if "DEFAULT" in part and {"NULL", "CONSTRAINT", "PRIMARY", "CHECK", "UNIQUE", "REFERENCES"}.intersection(
            part[: part.index("DEFAULT")]
        ):
            yield f"{part[0]}: DEFAULT comes before constraints (ORA-00907)"


def _columns(statement: Statement) -> Iterator[list[str]]:
    """Give the descriptions of columns that are created."""
    root = statement.root
    words = root.words
    created = statement.verb == "CREATE" and "TABLE" in words
    if not created and words[:2] != ["ALTER", "TABLE"]:
        return
    for place, item in enumerate(root.visible):
        described = words[place - 2] == "TABLE" if created else words[place - 1] in {"ADD", "MODIFY"}
        if isinstance(item, Level) and described:
            yield from (part for part in item.parts() if part and part[0] not in _CONSTRAINTS)


def indexes_hold_all_rows(statement: Statement) -> Iterator[str]:
    """There are no partial indexes (ORA-00933)."""
    root = statement.root
    if statement.verb == "CREATE" and "INDEX" in root.words[:4] and (root.has("WHERE") or root.has("INCLUDE")):
        yield "an index has neither WHERE nor INCLUDE; index an expression that is NULL elsewhere (ORA-00933)"


def partitions_begin_with_one(statement: Statement) -> Iterator[str]:
    """Automatic partitions begin with one that is named, and have none for the rest."""
    root = statement.root
    place = root.find("AUTOMATIC")
    if place < 0:
        return
    first = root.visible[place + 1] if place + 1 < len(root.visible) else None
    if not isinstance(first, Level) or first.words[:1] != ["PARTITION"] or not first.has("VALUES", GROUP):
        yield "AUTOMATIC needs a first partition: AUTOMATIC (PARTITION p VALUES (' '))"
    elif any(level.before == "VALUES" and level.has("DEFAULT") for level in first.every()):
        yield "AUTOMATIC has no DEFAULT partition"


def sequences_cache_two(statement: Statement) -> Iterator[str]:
    """A cache holds at least two numbers (ORA-04010)."""
    words = statement.root.words
    if words[:2] == ["CREATE", "SEQUENCE"] and "CACHE" in words and words[words.index("CACHE") + 1 :][:1] == ["1"]:
        yield "CACHE is at least 2, or NOCACHE (ORA-04010)"


RULES: Final[tuple[Rule, ...]] = (
    texts_have_a_length_in_characters,
    numbers_fit,
    columns_have_types_of_oracle,
    defaults_come_first,
    indexes_hold_all_rows,
    partitions_begin_with_one,
    sequences_cache_two,
)

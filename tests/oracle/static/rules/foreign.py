"""Rules on words that other databases have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.oracle.static.tokens import GROUP, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.oracle.static.tokens import Statement

    from .rule import Rule

_PHRASES: Final = {
    ("ON", "CONFLICT"): "write MERGE",
    ("ON", "DUPLICATE"): "write MERGE",
    ("ILIKE",): "compare UPPER(...)",
    ("DISTINCT", "ON"): "number the rows",
    ("DISTINCT", "FROM"): "write DECODE(a, b, 0, 1) = 1",
    ("WITH", "RECURSIVE"): "the word is not needed",
    ("AS", "MATERIALIZED"): "leave it to the optimizer",
    ("EXCEPT",): "write MINUS",
    ("FILTER", GROUP): "aggregate a CASE",
    ("NULLS", "NOT", "DISTINCT"): "it has none",
    ("RELEASE", "SAVEPOINT"): "a savepoint is never released",
    ("ARRAY",): "read a JSON_TABLE",
}
_FUNCTIONS: Final = {
    "NOW": "SYS_EXTRACT_UTC(SYSTIMESTAMP)",
    "IFNULL": "NVL",
    "NEXTVAL": "sequence.NEXTVAL",
    "STRING_AGG": "LISTAGG",
    "GENERATE_SERIES": "CONNECT BY LEVEL",
    "UNNEST": "JSON_TABLE",
    "DATE_TRUNC": "TRUNC",
    "BOOL_AND": "MIN",
    "BOOL_OR": "MAX",
    "IIF": "CASE",
    "STRFTIME": "TO_CHAR",
}


def no_phrases_of_others(statement: Statement) -> Iterator[str]:
    """Some phrases are of other databases."""
    for level in statement.levels():
        for phrase, instead in _PHRASES.items():
            if level.has(*phrase):
                yield f"{' '.join(phrase)} is not of Oracle; {instead}"


def no_functions_of_others(statement: Statement) -> Iterator[str]:
    """Some functions are of other databases."""
    for level in statement.levels():
        for name, instead in _FUNCTIONS.items():
            if level.has(name, GROUP):
                yield f"{name} is not of Oracle; write {instead} (ORA-00904)"


def no_limit(statement: Statement) -> Iterator[str]:
    """LIMIT is FETCH FIRST here (ORA-00933)."""
    for level in statement.levels():
        for word, item in zip(level.words, [*level.visible[1:], None], strict=False):
            if word == "LIMIT" and item is not None and getattr(item, "kind", None) in {Kind.NUMBER, Kind.BIND}:
                yield "LIMIT is not of Oracle; write FETCH FIRST n ROWS ONLY (ORA-00933)"


def no_truth(statement: Statement) -> Iterator[str]:
    """There is no BOOLEAN before 23ai."""
    for token in statement.tokens:
        if token.kind is Kind.WORD and token.text in {"TRUE", "FALSE", "BOOLEAN"}:
            yield f"{token.text} needs 23ai; write NUMBER(1), 1 and 0 (ORA-00904)"


def no_presence(statement: Statement) -> Iterator[str]:
    """IF [NOT] EXISTS came with 23ai."""
    if statement.root.has("IF", "EXISTS") or statement.root.has("IF", "NOT", "EXISTS"):
        yield "IF EXISTS and IF NOT EXISTS need 23ai"


def no_list_in_a_bind(statement: Statement) -> Iterator[str]:
    """A variable is one value, so that ANY of it is no list."""
    for level in statement.levels():
        if level.before in {"ANY", "SOME", "ALL"} and len(level.words) == 1 and level.words[0].startswith(":"):
            yield f"{level.words[0]} is one value for {level.before}; read a JSON_TABLE"


RULES: Final[tuple[Rule, ...]] = (
    no_phrases_of_others,
    no_functions_of_others,
    no_limit,
    no_truth,
    no_presence,
    no_list_in_a_bind,
)

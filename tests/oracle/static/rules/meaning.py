"""Rules on what Oracle takes otherwise than it looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.oracle.static.tokens import GROUP, Level

from .rule import SET_OPERATORS, Rule, aggregates, blocks, blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.oracle.static.tokens import Statement

_CLOCKS: Final = frozenset({"SYSDATE", "CURRENT_DATE", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP"})


def no_empty_text(statement: Statement) -> Iterator[str]:
    """An empty text is NULL, so that nothing equals it."""
    if any(token.text in {"''", "N''", "n''"} for token in statement.tokens):
        yield "'' is NULL; write IS NULL, or NULL"


def no_comparison_with_null(statement: Statement) -> Iterator[str]:
    """Nothing equals NULL."""
    for level in statement.levels():
        words = level.words
        for place, word in enumerate(words[:-1]):
            if words[place + 1] != "NULL":
                continue
            if word in {"<>", "!=", "<", ">", "<=", ">="} or (word == "=" and not _assigns(words[:place])):
                yield f"{word} NULL is never true; write IS NULL or IS NOT NULL"


def _assigns(words: list[str]) -> bool:
    """Tell whether an equals sign after these words gives a column its value."""
    name = 3 if words[-2:-1] == ["."] else 1
    return words[-name - 1 : -name] in (["SET"], [","])


def one_clock(statement: Statement) -> Iterator[str]:
    """Time is UTC, whatever the zone of host and session is."""
    for level in statement.levels():
        for word in level.words:
            if word in _CLOCKS or (word == "SYSTIMESTAMP" and level.before != "SYS_EXTRACT_UTC"):
                yield f"{word} depends on a time zone; write SYS_EXTRACT_UTC(SYSTIMESTAMP)"


def no_number_before_order(statement: Statement) -> Iterator[str]:
    """Rows are numbered before they are sorted."""
    for block in blocks(statement):
        if block.has("ORDER", "BY") and any(level.has("ROWNUM") for level in block.own()):
            yield "ROWNUM counts before ORDER BY sorts; write FETCH FIRST"


def groups_by_columns(statement: Statement) -> Iterator[str]:
    """A number in GROUP BY is a constant, not a place."""
    for block in blocks(statement):
        start = block.find("GROUP", "BY")
        if start >= 0 and any(word.isdigit() for word in block.words[start + 2 : start + 3]):
            yield "GROUP BY takes a number for a constant"


def draws_for_plain_rows(statement: Statement) -> Iterator[str]:
    """A sequence's numbers are drawn for rows of an outermost query without order (ORA-02287)."""
    for level in statement.levels():
        drawing = [block for block in blocks_of(level) if any(inner.has("NEXTVAL") for inner in block.own())]
        for block in drawing:
            sorts = block.has("ORDER", "BY") or block.words[1:2] == ["DISTINCT"] or aggregates(block)
            if level is not statement.root or sorts or SET_OPERATORS.intersection(level.words):
                yield "NEXTVAL is not for subqueries, nor with ORDER BY, DISTINCT, GROUP BY or UNION (ORA-02287)"
        if level.has("WHERE") and level.find("NEXTVAL", start=level.find("WHERE")) >= 0:
            yield "NEXTVAL is not for conditions (ORA-02287)"


def merges_by_what_stays(statement: Statement) -> Iterator[str]:
    """MERGE does not change what it finds rows by (ORA-38104), and has its condition in parentheses (ORA-00969)."""
    root = statement.root
    if statement.verb != "MERGE":
        return
    place = root.find("ON")
    condition = root.visible[place + 1] if 0 <= place < len(root.visible) - 1 else None
    if not isinstance(condition, Level):
        yield "the condition of MERGE stands in parentheses (ORA-00969)"
        return
    using = root.find("USING")
    alias = root.words[using - 1]
    compared = {word for level in condition.every() for word in _columns_of(alias, level.words)}
    change = root.find("UPDATE", "SET")
    if change >= 0:
        stop = root.find("WHEN", start=change)
        assigned = {
            part[part.index("=") - 1] for part in root.parts(change + 2, stop if stop >= 0 else None) if "=" in part
        }
        for word in sorted(compared & assigned):
            yield f"{word} finds the row and can't be changed by the same MERGE (ORA-38104)"


def _columns_of(alias: str, words: list[str]) -> Iterator[str]:
    for place in range(len(words) - 2):
        if words[place : place + 2] == [alias, "."]:
            yield words[place + 2]


def json_has_columns(statement: Statement) -> Iterator[str]:
    """JSON_TABLE describes its columns, by types that it has (ORA-40484)."""
    for level in statement.levels():
        if level.before == "JSON_TABLE" and not level.has("COLUMNS"):
            yield "JSON_TABLE needs COLUMNS"
        if level.before == "COLUMNS":
            for part in level.parts():
                if part[1:3] == ["TIMESTAMP", GROUP]:
                    yield f"{part[0]}: a TIMESTAMP has no precision in JSON_TABLE"
                elif part[1:2] != ["FOR"] and part[1:2] not in _JSON_TYPES:
                    yield f"{part[0]}: {' '.join(part[1:2])} is no type for JSON_TABLE"


_JSON_TYPES: Final = (["NUMBER"], ["VARCHAR2"], ["CLOB"], ["TIMESTAMP"], ["DATE"])

RULES: Final[tuple[Rule, ...]] = (
    no_empty_text,
    no_comparison_with_null,
    one_clock,
    no_number_before_order,
    groups_by_columns,
    draws_for_plain_rows,
    merges_by_what_stays,
    json_has_columns,
)

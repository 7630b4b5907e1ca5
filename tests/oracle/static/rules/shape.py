"""Rules on the form of a statement as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.oracle.static.tokens import GROUP, Kind, Level

from .rule import SET_OPERATORS, Rule, blocks, selected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.oracle.static.tokens import Statement

_SYMBOLS: Final = frozenset("(),.+-*/=<>") | {"<=", ">=", "<>", "!=", "^=", "||", "=>"}
_PROGRAMS: Final = frozenset({"TRIGGER", "FUNCTION", "PROCEDURE", "PACKAGE", "TYPE"})
_DEFINING: Final = frozenset({"CREATE", "ALTER", "DROP", "TRUNCATE", "GRANT", "REVOKE"})


def no_program(statement: Statement) -> Iterator[str]:
    """PL/SQL is no SQL."""
    kind = next((word for word in statement.root.words[1:] if word not in {"OR", "REPLACE", "EDITIONABLE"}), "")
    if statement.verb in {"BEGIN", "DECLARE"} or (statement.verb == "CREATE" and kind in _PROGRAMS):
        yield "PL/SQL is executed by nothing here; write SQL, or CALL"


def no_semicolon(statement: Statement) -> Iterator[str]:
    """A statement has no end mark (ORA-00933)."""
    if any(token.text == ";" for token in statement.tokens):
        yield "a semicolon belongs to scripts, not to statements (ORA-00933)"


def only_symbols_of_oracle(statement: Statement) -> Iterator[str]:
    """Oracle has fewer operators than others (ORA-00911)."""
    for token in statement.tokens:
        if token.kind is Kind.SYMBOL and token.text not in _SYMBOLS and token.text != ";":
            yield f"{token.text} is no symbol of Oracle's SQL (ORA-00911)"


def parentheses_match(statement: Statement) -> Iterator[str]:
    """Each parenthesis has its other half (ORA-00907)."""
    if not statement.balanced:
        yield "the parentheses do not match (ORA-00907)"


def one_definition(statement: Statement) -> Iterator[str]:
    """A statement defines one thing."""
    words = statement.root.words
    more = _DEFINING - {"DROP", "TRUNCATE"} if statement.verb == "ALTER" else _DEFINING
    for word in more.intersection(words[1:]):
        if statement.verb not in {"GRANT", "REVOKE", "COMMENT"}:
            yield f"{word} begins another statement (ORA-00933)"


def selects_from_something(statement: Statement) -> Iterator[str]:
    """There is a FROM in each query before 23ai (ORA-00923)."""
    for block in blocks(statement):
        if not block.has("FROM"):
            yield "SELECT without FROM needs 23ai; write FROM DUAL (ORA-00923)"


def star_stands_alone(statement: Statement) -> Iterator[str]:
    """All columns beside others need the table's name (ORA-00923)."""
    for block in blocks(statement):
        parts = selected(block).parts()
        if len(parts) > 1 and ["*"] in parts:
            yield "* beside other columns needs an alias before it: t.* (ORA-00923)"


def selects_into_nothing(statement: Statement) -> Iterator[str]:
    """SELECT INTO is PL/SQL."""
    for block in blocks(statement):
        if block.has("INTO"):
            yield "SELECT INTO is PL/SQL (ORA-00905)"


def no_alias_after_as(statement: Statement) -> Iterator[str]:
    """The alias of a table follows at once (ORA-00933)."""
    message = "there is no AS before the alias of a table (ORA-00933)"
    for level in statement.levels():
        if any(
            words[place] == "AS" and words[place + 1 : place + 2] != ["OF"]
            for words in _tables(level)
            for place in range(len(words))
        ):
            yield message


def _tables(level: Level) -> Iterator[list[str]]:
    """Give the parts of a level in which tables are named."""
    words = level.words
    for place, word in enumerate(words):
        if word == "FROM" and {"SELECT", "DELETE"}.intersection(words[:place]):
            stop = next((end for end in range(place, len(words)) if words[end] in _ENDS), len(words))
            yield words[place:stop]
    if words[:1] in (["UPDATE"], ["INSERT"], ["MERGE"]):
        stop = next((end for end, word in enumerate(words) if word in _STARTS), len(words))
        yield words[:stop]
    if words[:1] == ["MERGE"] and "USING" in words and "ON" in words:
        yield words[words.index("USING") : words.index("ON")]


_ENDS: Final = SET_OPERATORS | {"WHERE", "CONNECT", "GROUP", "HAVING", "ORDER", "OFFSET", "FETCH", "FOR", "RETURNING"}
_STARTS: Final = frozenset({"SET", "SELECT", "WITH", "VALUES", "USING"})


def returns_into_binds(statement: Statement) -> Iterator[str]:
    """RETURNING names as many variables as expressions (ORA-00925)."""
    root = statement.root
    start = max(root.find("RETURNING"), root.find("RETURN"))
    if start < 0 or not statement.is_dml:
        return
    into = root.find("INTO", start=start)
    if into < 0:
        yield "RETURNING needs INTO and a variable for each expression (ORA-00925)"
        return
    if len(root.parts(start + 1, into)) != len(root.parts(into + 1)):
        yield "RETURNING has as many variables as expressions"
    if any(not part[0].startswith(":") or len(part) != 1 for part in root.parts(into + 1) if part):
        yield "RETURNING INTO is followed by variables alone"
    if statement.verb == "MERGE" or (statement.verb == "INSERT" and not root.has("VALUES")):
        yield "RETURNING is for INSERT ... VALUES, UPDATE and DELETE (ORA-00933)"


def inserts_one_row(statement: Statement) -> Iterator[str]:
    """VALUES has one row before 23ai (ORA-00933), and makes no table."""
    for level in statement.levels():
        if level.has("VALUES", GROUP, ",") and statement.verb in {"INSERT", "WITH", "SELECT", "MERGE"}:
            yield "several rows in VALUES need 23ai (ORA-00933)"
        elif level.words[:1] == ["VALUES"]:
            yield "VALUES as a table needs 23ai (ORA-00903)"


def inserts_as_many_as_named(statement: Statement) -> Iterator[str]:
    """Each named column has a value, and is named once (ORA-00947, ORA-00913, ORA-00957)."""
    root = statement.root
    columns = _columns(statement)
    if columns is None:
        return
    names = columns.parts()
    if len({tuple(name) for name in names}) < len(names):
        yield "a column is named twice (ORA-00957)"
    values = root.find("VALUES", GROUP)
    given = len(_level(root, values + 1).parts()) if values >= 0 else _selected(root)
    if given is not None and given != len(names):
        yield f"{len(names)} columns are named and {given} values are given (ORA-00947, ORA-00913)"


def _columns(statement: Statement) -> Level | None:
    words = statement.root.words
    if "INSERT" not in words or words[words.index("INSERT") + 1 : words.index("INSERT") + 2] in (["ALL"], ["FIRST"]):
        return None
    place = statement.root.find(GROUP, start=words.index("INSERT"))
    stop = next((end for end, word in enumerate(words) if word in {"VALUES", "SELECT"}), -1)
    return _level(statement.root, place) if 0 <= place < stop else None


def _selected(root: Level) -> int | None:
    select = root.find("SELECT")
    if select < 0:
        return None
    parts = selected(Level(items=root.visible[select:])).parts()
    return None if any("*" in part[-1:] for part in parts) else len(parts)


def _level(level: Level, place: int) -> Level:
    item = level.visible[place]
    assert isinstance(item, Level)
    return item


def changes_one_table(statement: Statement) -> Iterator[str]:
    """UPDATE ... FROM and DELETE ... USING are of 23ai and of others; an order is for queries (ORA-00933)."""
    root = statement.root
    if statement.verb == "UPDATE" and root.has("FROM"):
        yield "UPDATE ... FROM needs 23ai; write MERGE or a subquery (ORA-00933)"
    if statement.verb == "DELETE" and root.has("USING"):
        yield "DELETE ... USING is not of Oracle; write a subquery (ORA-00933)"
    if statement.verb in {"UPDATE", "DELETE"} and root.has("ORDER", "BY"):
        yield f"{statement.verb} has no order (ORA-00933)"


def with_is_for_queries(statement: Statement) -> Iterator[str]:
    """WITH stands before SELECT alone (ORA-00928), and not at once after IN, for the parser's sake."""
    if statement.verb == "WITH" and {"INSERT", "UPDATE", "DELETE", "MERGE"}.intersection(statement.root.words):
        yield "WITH stands before SELECT alone (ORA-00928)"
    for level in statement.levels():
        if level.before == "IN" and level.words[:1] == ["WITH"]:
            yield "the parser does not know IN (WITH ...); write IN (SELECT x FROM (WITH ...))"


def lists_end_at_a_thousand(statement: Statement) -> Iterator[str]:
    """A list has at most 1000 elements (ORA-01795)."""
    for level in statement.levels():
        if level.before == "IN" and len(level.parts()) > _LIST_END:
            yield f"a list ends at {_LIST_END} elements (ORA-01795)"


_LIST_END: Final = 1000

RULES: Final[tuple[Rule, ...]] = (
    no_program,
    no_semicolon,
    only_symbols_of_oracle,
    parentheses_match,
    one_definition,
    selects_from_something,
    star_stands_alone,
    selects_into_nothing,
    no_alias_after_as,
    returns_into_binds,
    inserts_one_row,
    inserts_as_many_as_named,
    changes_one_table,
    with_is_for_queries,
    lists_end_at_a_thousand,
)

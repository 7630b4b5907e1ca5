"""Oracle's queries and DML as PostgreSQL's, token by token."""

from __future__ import annotations

from typing import Final

from tests.oracle.double.errors import refuse
from tests.oracle.double.tokens import (
    CLOSE,
    COMMA,
    DOT,
    OPEN,
    Kind,
    Rule,
    Token,
    Tokens,
    closing,
    find,
    is_words,
    items,
    raw,
)

_WORDS: Final = {
    "SYSTIMESTAMP": "statement_timestamp()",
    "CURRENT_TIMESTAMP": "statement_timestamp()",
    "LOCALTIMESTAMP": "CAST(statement_timestamp() AS timestamp)",
    "SYSDATE": "ora.sysdate()",
    "MINUS": "EXCEPT",
    "GREATEST": "ora.greatest",
    "LEAST": "ora.least",
    "CLOB": "ora.clob",
    "NCLOB": "ora.clob",
    "BLOB": "bytea",
    "BINARY_DOUBLE": "double precision",
    "INTEGER": "bigint",
}
_LONGEST_INTEGER: Final = 19


# --- what binds may be -----------------------------------------------------------------------------------


def direct_binds(found: Tokens) -> set[str]:
    """Return the binds that are nothing but the value of a column, which may be of any length."""
    places: set[int] = set()
    for place, token in enumerate(found):
        if token == Token(Kind.WORD, "VALUES") and found[place + 1 : place + 2] == [OPEN]:
            places |= _alone(found, place + 1, closing(found, place + 1), (OPEN, COMMA))
        elif token == Token(Kind.WORD, "SET"):
            places |= _alone(found, place, _end_of_set(found, place), (Token(Kind.OPERATOR, "="),))
    names = {found[place].text for place in places}
    other = {token.text for place, token in enumerate(found) if token.kind is Kind.BIND and place not in places}
    return names - other


def _alone(found: Tokens, start: int, end: int, before: tuple[Token, ...]) -> set[int]:
    ends = (COMMA, CLOSE)
    return {
        place
        for place in range(start + 1, end)
        if found[place].kind is Kind.BIND
        and found[place - 1] in before
        and (place + 1 >= end or found[place + 1] in ends)
        and _depth(found, start, place) == (1 if before[0] == OPEN else 0)
    }


def _depth(found: Tokens, start: int, place: int) -> int:
    part = found[start:place]
    return part.count(OPEN) - part.count(CLOSE)


def typed_binds(found: Tokens) -> Tokens:
    """
    Mark the binds whose NULL is a text.

    Oracle takes None for a text. That is converted almost everywhere, but not among the branches of a CASE or the
    arguments of COALESCE, nor as the first of NVL, which decides about the type.
    """
    return [
        Token(Kind.TYPED, token.text) if token.kind is Kind.BIND and _decides(found, place) else token
        for place, token in enumerate(found)
    ]


def _decides(found: Tokens, place: int) -> bool:
    following = found[place + 1].text if place + 1 < len(found) else ""
    before = found[place - 1].text
    if before in {"THEN", "ELSE"}:
        return following in {"WHEN", "ELSE", "END"}
    if before not in {"(", ","} or following not in {",", ")"}:
        return False
    opened = [start for start in range(place) if found[start] == OPEN and closing(found, start) > place]
    call = opened[-1] if opened else 0
    return is_words(found, call - 1, "COALESCE") or (is_words(found, call - 1, "NVL") and call == place - 1)


# --- translation -----------------------------------------------------------------------------------------


def translate(found: Tokens) -> Tokens:
    """Return a statement as PostgreSQL reads it, binds open."""
    for rule in _RULES:
        found = rule(found)
    return found


def _assignments(found: Tokens) -> Tokens:
    """Take the alias from the columns that are SET or inserted."""
    verb = found[0].text
    start = find(found, "SET")
    while verb in {"UPDATE", "MERGE"} and start >= 0:
        end = _end_of_set(found, start)
        assigned = [_bare(item) for item in items(found[start + 1 : end])]
        found = found[: start + 1] + _joined(assigned) + found[end:]
        start = find(found, "SET", start=start + 1)
    return found


def _end_of_set(found: Tokens, start: int) -> int:
    words = (("WHERE",), ("RETURNING",), ("WHEN", "MATCHED"), ("WHEN", "NOT", "MATCHED"), ("DELETE",))
    ends = [find(found, *each, start=start) for each in words]
    return min((end for end in ends if end >= 0), default=len(found))


def _bare(item: Tokens) -> Tokens:
    return item[2:] if len(item) > 2 and item[1] == DOT else item


def _joined(parts: list[Tokens]) -> Tokens:
    return [token for part in parts for token in (*part, COMMA)][:-1]


def _merge(found: Tokens) -> Tokens:
    """Move the WHERE of a branch to its head, and take the alias from the columns of its INSERT."""
    if found[0].text != "MERGE":
        return found
    starts = [place for place in range(len(found)) if is_words(found, place, "WHEN") and _branch(found, place)]
    head, branches = found[: starts[0]], []
    for start, end in zip(starts, [*starts[1:], len(found)], strict=True):
        branch = found[start:end]
        if find(branch, "DELETE") >= 0:
            refuse("knows no DELETE in a MERGE")
        if (insert := find(branch, "INSERT")) >= 0 and branch[insert + 1] == OPEN:
            close = closing(branch, insert + 1)
            columns = [_bare(item) for item in items(branch[insert + 2 : close])]
            branch = branch[: insert + 2] + _joined(columns) + branch[close:]
        if (where := find(branch, "WHERE")) >= 0:
            then = find(branch, "THEN")
            condition = [raw("AND"), OPEN, *branch[where + 1 :], CLOSE]
            branch = branch[:then] + condition + branch[then:where]
        branches += branch
    return head + branches


def _branch(found: Tokens, place: int) -> bool:
    return is_words(found, place + 1, "MATCHED") or is_words(found, place + 1, "NOT", "MATCHED")


def _delete(found: Tokens) -> Tokens:
    if found[0].text == "DELETE" and not is_words(found, 1, "FROM"):
        return [found[0], raw("FROM"), *found[1:]]
    return found


def _lock(found: Tokens) -> Tokens:
    """FOR UPDATE OF names a column in Oracle, a table in PostgreSQL."""
    start = find(found, "FOR", "UPDATE")
    if start < 0:
        return found
    if find(found, "WAIT", start=start) >= 0:
        refuse("knows no FOR UPDATE WAIT")
    if is_words(found, start + 2, "OF"):
        qualified = found[start + 4 : start + 5] == [DOT]
        table = [found[start + 2], found[start + 3]] if qualified else []
        return found[: start + 2] + table + found[start + (6 if qualified else 4) :]
    return found


def _levels(found: Tokens) -> Tokens:
    """``FROM DUAL CONNECT BY LEVEL <= n`` is a series."""
    place = next((p for p in range(len(found)) if is_words(found, p, "CONNECT", "BY")), -1)
    if place < 0:
        return found
    if not (is_words(found, place - 2, "FROM", "DUAL") and is_words(found, place + 2, "LEVEL", "<=")):
        refuse("knows CONNECT BY only as FROM DUAL CONNECT BY LEVEL <= n")
    end = next((p for p in range(place + 4, len(found)) if _depth(found, place, p + 1) < 0), len(found))
    series = [raw("generate_series(1, greatest(1, CAST("), *found[place + 4 : end], raw("AS bigint))) AS dual (level)")]
    return _levels(found[: place - 1] + series + found[end:])


def _json_table(found: Tokens) -> Tokens:
    """The text is to be read as JSON, and what happens on errors stands behind the columns."""
    place = next((p for p in range(len(found)) if is_words(found, p, "JSON_TABLE", "(")), -1)
    if place < 0:
        return found
    end = closing(found, place + 1)
    source, rest = items(found[place + 2 : end])[0], found[place + 2 : end]
    rest = rest[len(source) :]
    source = source[: find(source, "FORMAT")] if find(source, "FORMAT") >= 0 else source
    columns = find(rest, "COLUMNS")
    errors = rest[2:columns]
    inner = [raw("CAST(CAST("), *source, raw("AS text) AS jsonb)"), *rest[:2], *rest[columns:], *errors]
    return [*found[:place], raw("JSON_TABLE("), *inner, CLOSE, *_json_table(found[end + 1 :])]


def _recursive(found: Tokens) -> Tokens:
    changed: Tokens = []
    for place, token in enumerate(found):
        changed.append(token)
        if token == Token(Kind.WORD, "WITH") and found[place + 2 : place + 3] == [OPEN]:
            changed.append(raw("RECURSIVE"))
    return changed


def names_and_types(found: Tokens) -> Tokens:
    """Translate word by word: types, functions, sequences, quoted names, empty texts."""
    changed: Tokens = []
    place = 0
    while place < len(found):
        part, place = _word(found, place)
        changed += part
    return changed


def _word(found: Tokens, place: int) -> tuple[Tokens, int]:
    token = found[place]
    if token.kind is Kind.QUOTED:
        return [raw(token.text.swapcase())], place + 1
    if token == Token(Kind.STRING, "''"):
        return [raw("NULL")], place + 1
    if token.kind is not Kind.WORD or is_words(found, place - 1, "."):
        return [token], place + 1
    for draw in ("NEXTVAL", "CURRVAL"):
        if is_words(found, place + 1, ".", draw):
            return [raw(f"{draw.lower()}('{token.text.lower()}')")], place + 3
    if token.text in {"NUMBER", "VARCHAR2", "NVARCHAR2", "RAW", "DATE"}:
        return _type(found, place)
    return [raw(_WORDS[token.text]) if token.text in _WORDS else token], place + 1


def _type(found: Tokens, place: int) -> tuple[Tokens, int]:
    name, following = found[place].text, found[place + 1 : place + 2]
    if name == "DATE":
        return [raw("timestamp(0)")], place + 1
    if following != [OPEN]:
        return [raw("numeric" if name == "NUMBER" else "varchar")], place + 1
    end = closing(found, place + 1)
    sizes = [token.text for token in found[place + 2 : end] if token.kind is Kind.NUMBER]
    if name == "NUMBER":
        whole = len(sizes) == 1 and int(sizes[0]) <= _LONGEST_INTEGER
        return [raw("bigint" if whole else f"numeric({', '.join(sizes)})")], end + 1
    return [raw("bytea" if name == "RAW" else f"varchar({sizes[0]})")], end + 1


def _exists(found: Tokens) -> Tokens:
    """
    Look up what is asked for by EXISTS row by row, as the hint NO_UNNEST says.

    PostgreSQL would make joins of it, which without statistics of tables as young as these are bad ones.
    """
    for place in range(len(found) - 1, -1, -1):
        if is_words(found, place, "EXISTS", "("):
            end = closing(found, place + 1)
            found = [*found[:end], raw("OFFSET 0"), *found[end:]]
    return found


_RULES: Final[tuple[Rule, ...]] = (
    _exists,
    _assignments,
    _merge,
    _delete,
    _lock,
    _levels,
    _json_table,
    _recursive,
    names_and_types,
)

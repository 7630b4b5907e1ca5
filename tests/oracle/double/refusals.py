"""What Oracle refuses and PostgreSQL, or a translation, would let through."""

from __future__ import annotations

from typing import Final

from tests.oracle.double.dictionary import FOREIGN, RESERVED, TYPES
from tests.oracle.double.errors import ora
from tests.oracle.double.tokens import CLOSE, OPEN, Kind, Token, Tokens, closing, find, is_words, items

_LIST_END: Final = 1000
_UNLOCKABLE: Final = ("DISTINCT", "GROUP", "FETCH", "ROWNUM", "UNION", "INTERSECT", "MINUS", "OVER")
_AFTER_AS: Final = TYPES | {"SELECT", "WITH", "OF"}
_SEMICOLON: Final = Token(Kind.OPERATOR, ";")
_CAST: Final = Token(Kind.OPERATOR, "::")


def check(found: Tokens) -> None:
    """Raise what Oracle would raise when it parses this."""
    if _SEMICOLON in found or _CAST in found:
        raise ora(933, "SQL command not properly ended (a semicolon or a cast by colons)")
    for place, token in enumerate(found):
        _check_word(found, place, token)
    if (lock := find(found, "FOR", "UPDATE")) >= 0:
        _check_lock(found, lock)
    _check_form(found)


def _check_word(found: Tokens, place: int, token: Token) -> None:
    if token.kind is not Kind.WORD:
        return
    if token.text in FOREIGN and not is_words(found, place - 1, "."):
        raise ora(933, f"SQL command not properly ended at {token.text}, which is not of Oracle")
    if token.text == "IN" and found[place + 1 : place + 2] == [OPEN]:
        _check_list(found[place + 2 : closing(found, place + 1)])
    if token.text == "SELECT" and find(found, "FROM", start=place) < 0:
        raise ora(923, "FROM keyword not found where expected")
    if token.text == "AS":
        _check_alias(found, place)
    if token.text == "NEXTVAL":
        _check_sequence(found, place)


def _check_list(found: Tokens) -> None:
    if is_words(found, 0, "SELECT") or is_words(found, 0, "("):
        return
    if len(items(found)) > _LIST_END:
        raise ora(1795, f"maximum number of expressions in a list is {_LIST_END}")


def _check_alias(found: Tokens, place: int) -> None:
    following = found[place + 1] if place + 1 < len(found) else CLOSE
    if following.kind is Kind.WORD and following.text in RESERVED - _AFTER_AS:
        raise ora(923, f"FROM keyword not found where expected: {following.text} is reserved")
    before = place - 1
    if found[before] == CLOSE:
        before = next(start for start in range(before, -1, -1) if _closes(found, start, place - 1))
        before -= is_words(found, before - 1, "JSON_TABLE")
    named = found[before - 1] if before else CLOSE
    if named.kind is Kind.WORD and named.text in {"FROM", "JOIN", "USING", "UPDATE", "INTO"}:
        raise ora(933, "SQL command not properly ended: AS before the alias of a table")


def _closes(found: Tokens, start: int, end: int) -> bool:
    return found[start] == OPEN and closing(found, start) == end


def _check_sequence(found: Tokens, place: int) -> None:
    opened = [start for start in range(place) if found[start] == OPEN and closing(found, start) > place]
    block = found[opened[-1] + 1 : closing(found, opened[-1])] if opened else found
    sorts = any(find(block, *words) >= 0 for words in (("ORDER", "BY"), ("GROUP", "BY"), ("DISTINCT",)))
    if sorts or (opened and is_words(block, 0, "SELECT")):
        raise ora(2287, "sequence number not allowed here")


def _check_lock(found: Tokens, lock: int) -> None:
    start = find(found, "FROM")
    where = find(found, "WHERE", start=start)
    sources = [token for token in found[start : where if where >= 0 else lock] if token.kind is Kind.WORD]
    if any(find(found[:lock], word) >= 0 or Token(Kind.WORD, word) in sources for word in _UNLOCKABLE):
        raise ora(2014, "cannot select FOR UPDATE from view with DISTINCT, GROUP BY, etc.")
    if find(found, "FETCH", start=lock) >= 0:
        raise ora(2014, "cannot select FOR UPDATE with a row limit")


def _check_form(found: Tokens) -> None:
    verb = found[0].text if found else ""
    returning = find(found, "RETURNING")
    if returning >= 0:
        if find(found, "INTO", start=returning) < 0:
            raise ora(925, "missing INTO keyword")
        if verb == "MERGE" or (verb == "INSERT" and find(found, "VALUES") < 0):
            raise ora(933, "SQL command not properly ended: RETURNING is for INSERT ... VALUES, UPDATE and DELETE")
    if verb == "INSERT" and (values := find(found, "VALUES")) >= 0:
        end = closing(found, values + 1)
        if is_words(found, end + 1, ","):
            raise ora(933, "SQL command not properly ended: one row of VALUES")
    if verb == "WITH" and find(found, "SELECT") < 0:
        raise ora(928, "missing SELECT keyword")
    if (verb == "UPDATE" and find(found, "FROM") >= 0) or (verb == "DELETE" and find(found, "USING") >= 0):
        raise ora(933, f"SQL command not properly ended: {verb} of one table")
    if verb in {"CREATE", "DROP"} and (find(found, "IF", "EXISTS") >= 0 or find(found, "IF", "NOT") >= 0):
        raise ora(933, "SQL command not properly ended: IF EXISTS is of 23ai")

"""Oracle SQL as a list of tokens, without space and comments."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from tests.oracle.double.dictionary import RESERVED
from tests.oracle.double.errors import ora

_PATTERN: Final = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*|/\*.*?\*/)
  | (?P<string>[nN]?'(?:[^']|'')*')
  | (?P<quoted>"[^"]+")
  | (?P<bind>:\s*(?:\w+|"[^"]+"))
  | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)
  | (?P<word>[^\W\d][\w$#]*)
  | (?P<operator>\|\||<=|>=|<>|!=|\^=|::|=>|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL,
)


class Kind(Enum):
    """What a token is."""

    STRING = "string"
    QUOTED = "quoted"
    BIND = "bind"
    NUMBER = "number"
    WORD = "word"
    OPERATOR = "operator"
    TYPED = "typed"
    """A bind whose NULL is a text."""
    RAW = "raw"
    """SQL of PostgreSQL, put there by a translation."""


class Token(NamedTuple):
    """A token; ``text`` is that of a word in upper case, and that of a bind its name in lower case."""

    kind: Kind
    text: str


Tokens: TypeAlias = list[Token]
Rule: TypeAlias = Callable[[Tokens], Tokens]


def tokens(statement: str) -> Tokens:
    """Split a statement."""
    found: Tokens = []
    place = 0
    while place < len(statement):
        match = _PATTERN.match(statement, place)
        if match is None:
            raise ora(1756, "quoted string not properly terminated")
        place = match.end()
        if match.lastgroup != "space":
            found.append(_token(Kind(match.lastgroup), match.group()))
    return found


def _token(kind: Kind, text: str) -> Token:
    if kind is Kind.WORD:
        return Token(kind, text.upper())
    if kind is Kind.BIND:
        name = text[1:].strip()
        if name.upper() in RESERVED:  # those in quotes are not
            raise ora(1745, f"invalid host/bind variable name :{name}")
        return Token(kind, name.strip('"').lower())
    return Token(kind, text.lstrip("nN") if kind is Kind.STRING else text)


def raw(text: str) -> Token:
    """Return SQL of PostgreSQL as a token."""
    return Token(Kind.RAW, text)


def is_words(found: Tokens, place: int, *words: str) -> bool:
    """Tell whether these words, or operators, stand at a place."""
    part = found[place : place + len(words)]
    return place >= 0 and [token.text for token in part if token.kind in (Kind.WORD, Kind.OPERATOR)] == list(words)


def find(found: Tokens, *words: str, start: int = 0) -> int:
    """Return the first place of these words in a row outside of parentheses opened on the way, or -1."""
    depth = 0
    for place in range(start, len(found)):
        if depth == 0 and is_words(found, place, *words):
            return place
        depth += _turn(found[place])
        if depth < 0:
            break
    return -1


def closing(found: Tokens, place: int) -> int:
    """Return where the parenthesis that opens at a place is closed."""
    depth = 0
    for end in range(place, len(found)):
        depth += _turn(found[end])
        if depth == 0:
            return end
    raise ora(907, "missing right parenthesis")


def items(found: Tokens) -> list[Tokens]:
    """Split at the commas outside of parentheses."""
    parts: list[Tokens] = [[]]
    depth = 0
    for token in found:
        depth += _turn(token)
        if depth == 0 and token == COMMA:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _turn(token: Token) -> int:
    return (token == OPEN) - (token == CLOSE)


OPEN: Final = Token(Kind.OPERATOR, "(")
CLOSE: Final = Token(Kind.OPERATOR, ")")
COMMA: Final = Token(Kind.OPERATOR, ",")
DOT: Final = Token(Kind.OPERATOR, ".")

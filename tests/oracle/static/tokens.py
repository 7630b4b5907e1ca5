"""A statement as tokens, and as levels of parentheses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATTERN: Final = re.compile(
    r"""
    (?P<hint>/\*\+.*?\*/)
  | (?P<comment>--[^\n]*|/\*.*?\*/)
  | (?P<text>[nN]?'(?:[^']|'')*')
  | (?P<quoted>"[^"]+")
  | (?P<double>::|:=|\|\||<=|>=|<>|!=|\^=|=>)
  | (?P<bind>:(?:\w+|"[^"]+"))
  | (?P<number>\d+(?:\.\d+)?|\.\d+)
  | (?P<word>[A-Za-z][\w$#]*)
  | (?P<symbol>\S)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
GROUP: Final = "()"
"""Stands in a level for one within it."""


class Kind(Enum):
    """What a token is."""

    HINT = "hint"
    TEXT = "text"
    QUOTED = "quoted"
    BIND = "bind"
    NUMBER = "number"
    WORD = "word"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Token:
    """A token; words are in upper case."""

    kind: Kind
    text: str


@dataclass
class Level:
    """What stands between two parentheses, or the whole statement."""

    before: str = ""
    """What the opening parenthesis follows."""
    outer: Level | None = None
    items: list[Token | Level] = field(default_factory=list)

    @cached_property
    def words(self) -> list[str]:
        """The texts of the items, hints left out, levels within as ``()``."""
        return [GROUP if isinstance(item, Level) else item.text for item in self.visible]

    @cached_property
    def visible(self) -> list[Token | Level]:
        """The items without hints."""
        return [item for item in self.items if isinstance(item, Level) or item.kind is not Kind.HINT]

    @property
    def is_query(self) -> bool:
        """Whether it is a query of its own."""
        return self.words[:1] in (["SELECT"], ["WITH"])

    def has(self, *words: str) -> bool:
        """Tell whether these words stand here in a row."""
        return self.find(*words) >= 0

    def find(self, *words: str, start: int = 0) -> int:
        """Return the first place of these words in a row, or -1."""
        here = self.words
        places = range(start, len(here) - len(words) + 1)
        return next((place for place in places if here[place : place + len(words)] == list(words)), -1)

    def every(self) -> Iterator[Level]:
        """Give this level and all within it."""
        yield self
        for item in self.items:
            if isinstance(item, Level):
                yield from item.every()

    def own(self) -> Iterator[Level]:
        """Give this level and all within it that are no queries of their own."""
        yield self
        for item in self.items:
            if isinstance(item, Level) and not item.is_query:
                yield from item.own()

    def parts(self, start: int = 0, stop: int | None = None) -> list[list[str]]:
        """Split the words at commas."""
        parts: list[list[str]] = [[]]
        for word in self.words[start:stop]:
            if word == ",":
                parts.append([])
            else:
                parts[-1].append(word)
        return parts


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement to be checked."""

    tokens: list[Token]
    root: Level
    balanced: bool
    """Whether each parenthesis has its other half."""

    @property
    def verb(self) -> str:
        """Its first word."""
        return next((token.text for token in self.tokens if token.kind is not Kind.HINT), "")

    @property
    def is_dml(self) -> bool:
        """Whether it reads or writes rows."""
        return self.verb in {"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE"}

    def levels(self) -> Iterator[Level]:
        """Give all levels."""
        return self.root.every()


def tokens(text: str) -> Iterator[Token]:
    """Split a text, without space and comments other than hints."""
    for match in _PATTERN.finditer(text):
        name, found = str(match.lastgroup), match.group()
        if name != "comment":
            yield Token(Kind("symbol" if name == "double" else name), found.upper() if name == "word" else found)


def read(text: str) -> Statement:
    """Take a statement to pieces."""
    found = list(tokens(text))
    root = level = Level()
    balanced = True
    for token in found:
        if token == Token(Kind.SYMBOL, "("):
            inner = Level(before=_last(level), outer=level)
            level.items.append(inner)
            level = inner
        elif token == Token(Kind.SYMBOL, ")"):
            balanced = balanced and level.outer is not None
            level = level.outer or level
        else:
            level.items.append(token)
    return Statement(found, root, balanced and level is root)


def _last(level: Level) -> str:
    """Return the text of what was read last."""
    last = level.items[-1] if level.items else None
    return GROUP if isinstance(last, Level) else last.text if last else ""

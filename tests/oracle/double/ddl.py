"""Oracle's definitions as PostgreSQL's: names, types, constraints and indexes stay, physical clauses go."""

from __future__ import annotations

import re
from typing import Final

from tests.oracle.double.dictionary import RESERVED
from tests.oracle.double.errors import ora, refuse
from tests.oracle.double.queries import names_and_types, translate
from tests.oracle.double.tokens import OPEN, Kind, Token, Tokens, closing, find, is_words, items, raw

PARTITIONED: Final = "-- partitioned"
"""Stands for the question whether the database can partition."""

_HIDDEN: Final = "transaction"
_CONSTRAINTS: Final = frozenset({"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"})
_PHYSICAL: Final = frozenset({"ENABLE", "DISABLE", "VALIDATE", "NOVALIDATE", "RELY", "VISIBLE", "LOGGING", "NOLOGGING"})
_SEQUENCE: Final = {"NOCYCLE": "NO CYCLE", "NOMAXVALUE": "NO MAXVALUE", "NOMINVALUE": "NO MINVALUE"}
_LARGEST: Final = 2**63 - 1


def definitions(found: Tokens) -> list[str]:
    """Return the statements of PostgreSQL that define the same."""
    verb, words = found[0].text, [token.text for token in found[:6]]
    if verb == "CREATE":
        return _create(found, words)
    if verb == "DROP":
        return _drop(found)
    if is_words(found, 0, "ALTER", "TABLE"):
        return _alter(found)
    if verb == "COMMENT":
        return []  # the comment of a table tells whether it is partitioned
    if words[1] != "TABLE" or verb not in {"TRUNCATE", "ANALYZE"}:
        refuse(f"knows no {' '.join(words[:2])}")
    return [f"{verb} {_name(found[2])}"]


def _create(found: Tokens, words: list[str]) -> list[str]:
    if "TABLE" in words:
        return _table(found, found.index(Token(Kind.WORD, "TABLE")), temporary="TEMPORARY" in words)
    if "INDEX" in words:
        return _index(found, found.index(Token(Kind.WORD, "INDEX")), unique="UNIQUE" in words)
    if "VIEW" in words:
        return _view(found, found.index(Token(Kind.WORD, "VIEW")), replace="REPLACE" in words)
    if words[1] != "SEQUENCE":
        refuse(f"knows no {' '.join(words[:2])}")
    return [_sequence(found)]


def _table(found: Tokens, place: int, *, temporary: bool) -> list[str]:
    name = _name(found[place + 1])
    if found[place + 2 : place + 3] != [OPEN]:
        refuse("creates tables by their columns only")
    end = closing(found, place + 2)
    body, tail = items(found[place + 3 : end]), found[end + 1 :]
    columns = [item for item in body if item[0].text not in _CONSTRAINTS]
    for item in columns:
        if item[0].kind is Kind.WORD and item[0].text in RESERVED:
            raise ora(904, f"{item[0].text}: invalid identifier")
    if temporary:
        if find(tail, "ON", "COMMIT", "DELETE", "ROWS") < 0:
            refuse("knows temporary tables with ON COMMIT DELETE ROWS only")
        return _temporary(name, [_text(item[:1]) for item in columns], [_element(item) for item in body])
    create = f"CREATE TABLE {name} ({', '.join(_element(item) for item in body)})"
    if find(tail, "PARTITION", "BY") < 0:
        return [create]
    return [PARTITIONED, create, f"COMMENT ON TABLE {name} IS 'partitioned'"]


def _temporary(name: str, columns: list[str], body: list[str]) -> list[str]:
    """A table that all share, and a view that shows each transaction its own rows."""
    keyed = [re.sub(r"((?:PRIMARY KEY|UNIQUE) \([^)]*)\)", rf"\1, {_HIDDEN})", element) for element in body]
    if any(element.endswith(("PRIMARY KEY", "UNIQUE")) for element in keyed):
        refuse("wants the key of a temporary table behind its columns: PRIMARY KEY (...)")
    own = f"{_HIDDEN} = pg_current_xact_id_if_assigned()"
    return [
        f"CREATE TABLE temporary.{name} ({', '.join(keyed)}, {_HIDDEN} xid8 NOT NULL DEFAULT pg_current_xact_id())",
        f"CREATE INDEX ON temporary.{name} ({_HIDDEN})",
        f"CREATE VIEW public.{name} AS SELECT {', '.join(columns)} FROM temporary.{name} WHERE {own}",  # noqa: S608
    ]


def _element(item: Tokens) -> str:
    """Write a column or a constraint without what says how it is stored."""
    if (start := find(item, "USING", "INDEX")) >= 0:
        item = item[:start]
    if (start := find(item, "DEFAULT", "ON", "NULL")) >= 0:
        item = item[: start + 1] + item[start + 3 :]
    if (start := find(item, "AS", "IDENTITY")) >= 0:
        item = item[: start + 2]
    words = [raw("STORED") if token == Token(Kind.WORD, "VIRTUAL") else token for token in item]
    return _text(names_and_types([token for token in words if token.text not in _PHYSICAL]))


def _index(found: Tokens, place: int, *, unique: bool) -> list[str]:
    name, table = _name(found[place + 1]), _name(found[place + 3])
    end = closing(found, place + 4)
    columns = [_indexed(item) for item in items(found[place + 5 : end])]
    return [f"CREATE {'UNIQUE ' if unique else ''}INDEX {name} ON {table} ({', '.join(columns)})"]


def _indexed(item: Tokens) -> str:
    direction = [item[-1]] if item[-1].text in {"ASC", "DESC"} else []
    expression = item[: len(item) - len(direction)]
    text = _text(translate(expression))
    return f"{text if len(expression) == 1 else f'({text})'} {_text(direction)}".strip()


def _view(found: Tokens, place: int, *, replace: bool) -> list[str]:
    name, start = _name(found[place + 1]), find(found, "AS", start=place)
    columns, query = found[place + 2 : start], found[start + 1 :]
    if (end := find(query, "WITH", "READ", "ONLY")) >= 0:
        query = query[:end]
    create = f"CREATE VIEW {name} {_text(names_and_types(columns))} AS {_text(translate(query))}"
    return [*([f"DROP VIEW IF EXISTS {name}"] if replace else []), create]


def _sequence(found: Tokens) -> str:
    """Write a sequence without a cache: Oracle's is shared by all sessions, PostgreSQL's is not."""
    kept: Tokens = []
    options = iter(found[2:])
    for token in options:
        if token.text in {"ORDER", "NOORDER", "NOCACHE"}:
            continue
        value = next(options) if token.text in {"CACHE", "MAXVALUE"} else None
        if value is None:
            kept.append(raw(_SEQUENCE.get(token.text, token.text)))
        elif token.text == "MAXVALUE" and int(value.text) <= _LARGEST:
            kept += [token, value]
    return f"CREATE SEQUENCE {_text(kept)}"


def _drop(found: Tokens) -> list[str]:
    kind, name = found[1].text, _name(found[2])
    if kind not in {"TABLE", "VIEW", "INDEX", "SEQUENCE"}:
        refuse(f"knows no DROP {kind}")
    # Views outlive their tables in Oracle, as something that can't be used; here they go with them.
    return [f"DROP {kind} {name}{' CASCADE' if kind == 'TABLE' else ''}"]


def _alter(found: Tokens) -> list[str]:
    name, action = _name(found[2]), found[3:]
    if is_words(action, 1, "ROW", "MOVEMENT"):
        return []
    if is_words(action, 0, "ADD", "CONSTRAINT"):
        return [f"ALTER TABLE {name} ADD {_element(action[1:])}"]
    if is_words(action, 0, "ADD"):
        added = action[2:-1] if action[1] == OPEN else action[1:]
        return [f"ALTER TABLE {name} ADD {_element(item)}" for item in items(added)]
    if not is_words(action, 0, "DROP") or action[1].text not in {"COLUMN", "CONSTRAINT"}:
        refuse(f"knows no ALTER TABLE {' '.join(token.text for token in action[:2])}")
    return [f"ALTER TABLE {name} DROP {action[1].text} {_name(action[2])}"]


def _name(token: Token) -> str:
    return _text(names_and_types([token])).lower() if token.kind is Kind.WORD else token.text.swapcase()


def _text(found: Tokens) -> str:
    return " ".join(token.text for token in found)

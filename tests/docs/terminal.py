"""A terminal as a reader has it: commands are typed into it, and what they print is compared with the page."""

from __future__ import annotations

import doctest
import importlib.metadata
import os
import shlex
import signal
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Self

from tests.docs.fences import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.docs.fences import Command

__all__ = ["Terminal", "compare"]

_PATIENCE = 100.0
_INTERRUPT = "^C"
_SHELL = frozenset("|<>*")
_PROGRAMS = frozenset({"cat", "echo", "printf", "python", "seq", "topiq"})


class Terminal:
    """Runs commands in the current folder, one after the other."""

    def __init__(self) -> None:
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("TOPIQ_", "PYTEST_"))},
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONUNBUFFERED": "1",
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "TERM": "dumb",
        }
        self._status = 0
        self._printed = ""

    def type(self, command: Command) -> None:
        """Run a command line, which prints what the page shows, and succeeds unless the page shows its code."""
        if command.text == "echo $?":
            compare(command.output or "", str(self._status))
            self._status = 0
            return
        *before, last = (part.strip() for part in command.text.split("&&"))
        for part in before:
            self._run(part, None)
        self._run(last, command.output)

    def close(self) -> None:
        """Insist that the last command succeeded, or that the page showed its code."""
        if self._status:
            message = f"the command ended with {self._status}, and the page does not show that:\n{self._printed}"
            raise AssertionError(message)

    def _run(self, text: str, output: str | None) -> None:
        self.close()
        if text.startswith("export "):
            name, _, value = text.removeprefix("export ").partition("=")
            self.environment[name] = shlex.split(value)[0]
        elif text.startswith(("pip install ", "tox")):
            _check_installable(shlex.split(text))
        elif output is not None and _INTERRUPT in output.splitlines():
            self._run_until_interrupted(text, output)
        else:
            self._run_to_the_end(text, output)

    def _run_to_the_end(self, text: str, output: str | None) -> None:
        _check_programs(text)
        command = ["/bin/sh", "-c", text] if _SHELL & set(text) else shlex.split(text)
        result = subprocess.run(  # noqa: S603 - our own pages
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environment,
            timeout=_PATIENCE,
            check=False,
            text=True,
        )
        self._status, self._printed = result.returncode, result.stdout
        if output is not None:
            compare(output, result.stdout)

    def _run_until_interrupted(self, text: str, output: str) -> None:
        """Wait until the lines before ^C were printed, perhaps among others, then do as a reader who presses it."""
        _check_programs(text)
        lines = output.splitlines()
        before, after = lines[: lines.index(_INTERRUPT)], lines[lines.index(_INTERRUPT) + 1 :]
        with _Running(shlex.split(text), self.environment) as program:
            printed: list[str] = []
            for line in program.lines():
                printed.append(line)
                if _in_order(before, printed):
                    break
            else:
                compare("\n".join(before), "".join(printed))
            program.process.send_signal(signal.SIGINT)
            rest = list(program.lines())
            self._status, self._printed = program.process.wait(), "".join(rest)
        if not _in_order(after, rest):
            compare("\n".join(after), "".join(rest))


class _Running:
    """A program whose two outputs are read line by line, so that neither cuts a line of the other in two."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - our own pages
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
        )
        self._inbox = SimpleQueue[str | None]()
        self._open = 2
        self._overdue = threading.Timer(_PATIENCE, self.process.kill)
        self._readers = [
            threading.Thread(target=self._read, args=(stream,)) for stream in (self.process.stdout, self.process.stderr)
        ]

    def __enter__(self) -> Self:
        for thread in (self._overdue, *self._readers):
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._overdue.cancel()
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join()

    def lines(self) -> Iterator[str]:
        """Each line as it is printed, until the program has ended."""
        while self._open:
            if (line := self._inbox.get()) is None:
                self._open -= 1
            else:
                yield line

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._inbox.put(line)
        self._inbox.put(None)


def compare(expected: str, printed: str) -> None:
    """Insist that something was printed as a page shows it, where ``...`` stands for anything."""
    if not _agree(expected, printed):
        message = f"the page shows\n{expected.rstrip()}\nbut this was printed:\n{printed.rstrip()}"
        raise AssertionError(message)


def _agree(expected: str, printed: str) -> bool:
    return doctest.OutputChecker().check_output(_trimmed(expected), _trimmed(printed), doctest.ELLIPSIS)


def _in_order(expected: list[str], printed: list[str]) -> bool:
    """Whether all lines were printed, in this order; what runs on and on prints others between them."""
    left = iter(printed)
    return all(any(_agree(wanted, line) for line in left) for wanted in expected)


def _trimmed(text: str) -> str:
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "".join(f"{line}\n" for line in lines)


def _check_programs(text: str) -> None:
    """Only what is known to do no harm here is run."""
    if unknown := {part.split()[0] for part in text.split("|")} - _PROGRAMS:
        message = f"pages run {', '.join(sorted(_PROGRAMS))}; say why {', '.join(unknown)} is not run"
        raise ValueError(message)


def _check_installable(words: list[str]) -> None:
    """An installation is not repeated here: this project with its extras, and what the pages were run with."""
    if words[0] == "tox":
        assert (ROOT / "tox.ini").exists()
        return
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = {".", *(f".[{extra}]" for extra in project["optional-dependencies"]), "tox"}
    for word in words[2:]:
        if word not in own:
            importlib.metadata.distribution(word)

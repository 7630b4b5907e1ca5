"""
Run one page as the script that it is: ``play.py PAGE [POSTGRESQL_URL]``, in the current folder.

Python blocks share one namespace, console blocks one environment, and both one folder. Example URLs stand for the given
one. The exit status is 1 when a block fails or prints something else than the page shows.
"""

from __future__ import annotations

import contextlib
import io
import sqlite3
import sys
import traceback
from itertools import pairwise
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.docs.fences import Command, Fence, commands, fences
from tests.docs.terminal import Terminal, compare

_POSTGRESQL = "postgresql://localhost/shop"
_SQLITE = "sqlite:///shop.db"


class Player:
    """What the blocks of one page share."""

    def __init__(self, page: Path, url: str | None) -> None:
        self._page = page
        self._url = url
        self._namespace: dict[str, object] = {"__name__": "__main__"}
        self._terminal = Terminal()

    def play(self) -> None:
        """Run all blocks in their order."""
        here = (None, "sqlite" if self._url is None else "postgresql")
        found = fences(self._page.read_text(encoding="utf-8"))
        blocks = [fence for fence in found if fence.reason is None and fence.only in here]
        for fence, following in pairwise([*blocks, None]):
            assert fence is not None
            shown = following.body if following is not None and following.language == "text" else None
            try:
                self._run(fence, shown)
            except BaseException as error:
                error.add_note(f"in the block at {self._page}:{fence.line}")
                raise
        self._terminal.close()

    def _run(self, fence: Fence, shown: str | None) -> None:
        if fence.title is not None:
            Path(fence.title).write_text(self._meant(fence.body), encoding="utf-8")
        elif fence.language == "python":
            self._run_python(fence, shown)
        elif fence.language == "console":
            for command in commands(fence):
                output = None if command.output is None else self._meant(command.output)
                self._terminal.type(Command(command.line, self._meant(command.text), output))
        elif fence.language == "sql":
            self._run_sql(fence, shown)
        elif fence.language != "text":
            message = f"nobody knows how to run {fence.language!r}; give the block a title, or say why it is not run"
            raise ValueError(message)

    def _run_python(self, fence: Fence, shown: str | None) -> None:
        # Empty lines in front, so that a trace names the lines of the page.
        code = compile("\n" * (fence.line - 1) + self._meant(fence.body), str(self._page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self._namespace)  # noqa: S102 - our own pages
        if shown is not None:
            compare(shown, printed.getvalue())

    def _run_sql(self, fence: Fence, shown: str | None) -> None:
        statements = [statement for part in fence.body.split(";\n") if (statement := part.strip())]
        rows: list[tuple[object, ...]] = []
        if self._url is None:
            with contextlib.closing(sqlite3.connect("shop.db")) as connection, connection:
                for statement in statements:
                    rows = connection.execute(statement).fetchall()
        else:
            import psycopg  # noqa: PLC0415 - for pages on PostgreSQL alone

            with psycopg.connect(self._url, autocommit=True) as server:
                for statement in statements:
                    cursor = server.execute(statement.encode())
                    rows = cursor.fetchall() if cursor.description else []
        if shown is not None:
            compare(shown, "\n".join(" | ".join(map(str, row)) for row in rows))

    def _meant(self, text: str) -> str:
        """The text with the example's URLs replaced by the database that is there."""
        return text if self._url is None else text.replace(_POSTGRESQL, self._url).replace(_SQLITE, self._url)


def main() -> int:
    """Run the page."""
    page, *url = sys.argv[1:]
    sys.path[0] = ""  # what a page saves can be imported, as by a reader's Python, and not what lies beside this file
    try:
        Player(Path(page), url[0] if url else None).play()
    except BaseException:  # noqa: BLE001 - shown, and told by the status
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

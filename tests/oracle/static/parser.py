"""The parser, in one process for all statements."""

from __future__ import annotations

import json
import subprocess
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from .node import NodeError, installed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def parse(texts: Sequence[str]) -> Iterator[str]:
    """
    Give what is wrong with each statement as soon as it is known, an empty text if nothing is.

    It takes some seconds to begin, and up to a few for a statement that is unlike those before.

    Raises:
        NodeError: the parser can't be had, or it broke down.

    """
    node, script = installed()
    with TemporaryFile("w+", encoding="utf-8") as source, TemporaryFile("w+", encoding="utf-8") as trouble:
        source.writelines(f"{json.dumps(text)}\n" for text in texts)
        source.seek(0)
        with subprocess.Popen(  # noqa: S603 - nothing from outside
            [node, str(script)], stdin=source, stdout=subprocess.PIPE, stderr=trouble, encoding="utf-8"
        ) as process:
            assert process.stdout is not None
            number = 0
            try:
                for number, line in enumerate(process.stdout, 1):  # noqa: B007 - counts
                    yield "; ".join(json.loads(line))
            finally:
                process.kill()
        if number < len(texts):
            trouble.seek(0)
            message = f"the parser broke down after {number} of {len(texts)} statements:\n{trouble.read()}"
            raise NodeError(message)

"""The standard streams, which may be closed, full, or unable to spell what is written to them."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Final, TextIO

__all__ = ["discard", "escape_unknown", "is_unwritten", "spells_all"]

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def escape_unknown() -> None:
    """Escape what the standard output's encoding does not know, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def spells_all() -> bool:
    """Tell whether the standard output's encoding knows every character."""
    return (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")


def is_unwritten(error: OSError) -> bool:
    """Tell whether a stream took no more, as when the disk is full; errors of files name theirs."""
    return error.errno in _FULL and error.filename is None


def discard(stream: TextIO | None) -> None:
    """Forget what could not be written, so that the end of the program does not try it again."""
    if stream is not None:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

"""The ``topiq`` command line: the one place where all the packages meet."""

from .cli import main

__all__ = ["main"]

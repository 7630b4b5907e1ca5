"""Where a notifier's news come from."""

from collections.abc import Collection
from typing import ClassVar, Protocol

from .switchboard import Switchboard

__all__ = ["EndOfFeed", "Feed", "Source"]


class EndOfFeed(Exception):  # noqa: N818 - nothing went wrong
    """The feed has to be opened anew, though nothing was lost."""


class Feed(Protocol):
    """News of one database, as long as its connection holds."""

    def attend(self, board: Switchboard) -> None:
        """
        Wait for news, some time at most, and pass them on.

        Raises:
            EndOfFeed: it is to be opened anew; anything else says that it is lost.

        """
        ...

    def wake(self) -> None:
        """Let this and every later `attend` return at once; called from another thread."""
        ...

    def close(self) -> None:
        """Give the connection up."""
        ...


class Source(Protocol):
    """Opens feeds."""

    remote: ClassVar[bool]
    """Whether opening may take long, because something at the other end of a network has to answer."""

    def open(self, topics: Collection[str]) -> Feed:
        """
        Open a feed of news on these topics, which misses nothing from here on.

        Raises:
            TaskError: there never will be one; anything else may pass.

        """
        ...

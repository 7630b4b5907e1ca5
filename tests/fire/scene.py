"""What a fault can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence
    from pathlib import Path


class Member(Protocol):
    """A process that takes part."""

    @property
    def name(self) -> str:
        """Its name, and its owner's if it works."""
        ...

    @property
    def kind(self) -> str:
        """``"worker"`` or ``"producer"``."""
        ...

    @property
    def pid(self) -> int:
        """The number of the process."""
        ...

    def kill(self) -> None:
        """End it with SIGKILL, and wait for that."""
        ...

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        ...

    def restart(self) -> None:
        """Start it again after it was killed."""
        ...


class Scene(Protocol):
    """Members, and the database that they share."""

    @property
    def database(self) -> str:
        """``"postgresql"`` or ``"sqlite"``."""
        ...

    @property
    def folder(self) -> Path:
        """Where files may be put."""
        ...

    @property
    def silence(self) -> float:
        """Seconds beyond lease and expiry: how long something must be away for others to take over."""
        ...

    @property
    def members(self) -> Sequence[Member]:
        """The processes."""
        ...

    @property
    def cluster(self) -> Any:  # noqa: ANN401 - the faults' own
        """The servers of PostgreSQL, if there are any."""
        ...

    @property
    def proxy(self) -> Any:  # noqa: ANN401 - the faults' own
        """What stands between members and the server, if anything."""
        ...

    @property
    def database_file(self) -> Path | None:
        """The file of SQLite."""
        ...

    @property
    def url(self) -> str:
        """What members use."""
        ...

    @property
    def admin_url(self) -> str:
        """Past the proxy, as a superuser."""
        ...

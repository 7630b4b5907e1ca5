"""Releasing suspended tasks together: one algorithm for all databases."""

from collections.abc import Collection, Iterable
from typing import Final

from task_api import IDENTIFIER_LENGTH, InvalidTaskError, Junction
from task_api.task import checked_name

from .arguments import checked_enum, checked_topic
from .base import SqlRepository, T

__all__ = ["SqlTaskJuncture"]

_JOINING: Final = 2
"""The salt of the locks that junctions of one identifier wait for."""


class SqlTaskJuncture(SqlRepository[T]):
    """Releases groups of suspended tasks."""

    def junction(
        self,
        tx: T,
        topic: str,
        groups: Iterable[Collection[str]],
        *,
        junction: Junction = Junction.SINGULAR,
    ) -> set[str]:
        """Release every complete group; see `TaskJuncture.junction`."""
        checked_topic(topic)
        checked_enum(Junction, junction)
        if not isinstance(groups, Iterable) or isinstance(groups, str):
            message = f"groups are collections of identifiers in an iterable, not {type(groups).__name__}"
            raise InvalidTaskError(message)
        members = [members for group in groups if (members := _members(group))]
        if not members:
            return set()
        transaction, layout = self._open(tx)
        with self._dialect.unit(transaction):
            identifiers = sorted(set().union(*members))
            self._dialect.serialize(transaction, topic, identifiers, _JOINING)
            rows = transaction.rows(
                self._statements.revive.junction[junction],
                {
                    "topic": topic,
                    "salt": _JOINING,
                    "notify": layout.notify,
                    **self._dialect.table(
                        groups=[number for number, group in enumerate(members) for _ in group],
                        identifiers=[identifier for group in members for identifier in group],
                    ),
                },
            )
        return {row[0] for row in rows}


def _members(group: object) -> set[str]:
    if isinstance(group, str | bytes) or not isinstance(group, Iterable):
        message = f"a group is a collection of identifiers, not {type(group).__name__}"
        raise InvalidTaskError(message)
    return {checked_name("identifier", identifier, IDENTIFIER_LENGTH) for identifier in group}

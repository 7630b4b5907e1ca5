"""What all parts of a repository share."""

from typing import Generic, TypeVar

from task_api import UnknownOwnerError

from .dialect import Dialect
from .schema.layout import Layout
from .transaction import Transaction

__all__ = ["SqlRepository", "T"]

T = TypeVar("T", contravariant=True)


class SqlRepository(Generic[T]):
    """An owner on a database."""

    owner: str

    def __init__(self, owner: str, dialect: Dialect) -> None:
        self.owner = owner
        self._dialect = dialect
        self._statements = dialect.statements

    def _open(self, tx: T) -> tuple[Transaction, Layout]:
        return self._dialect.open(tx)

    def _require_owner(self, transaction: Transaction) -> None:
        if not transaction.rows(self._statements.owner.registered, {"owner": self.owner}):
            raise UnknownOwnerError(self.owner)

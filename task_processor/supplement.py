"""What the steps of one batch share."""

import threading
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast, get_origin

from task_api import InvalidTaskError, Task

if TYPE_CHECKING:
    from .context import TaskContext

__all__ = ["TaskSupplement"]

V = TypeVar("V")
_Key = tuple[Hashable, Task | None, Hashable]


class TaskSupplement:
    """
    Values of one batch by type, and by task and qualifier where these are given.

    The three parts of a key are independent: a value for a task is no value for the batch, nor the other way round.
    A parameterised type, such as ``list[str]``, is a key of its own. Safe for steps that run at once.
    """

    def __init__(self, context: "TaskContext | None" = None) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._made = threading.Condition(self._lock)
        self._values: dict[_Key, Any] = {}
        # The thread that makes a value, and the value that a thread waits for.
        self._makers: dict[_Key, int] = {}
        self._waiting: dict[int, _Key] = {}

    @property
    def context(self) -> Any:  # noqa: ANN401 - whatever the factory was given
        """The context of the batch."""
        return self._context

    def __reduce__(self) -> NoReturn:
        message = (
            "a supplement stays in its process: run the steps that take it on threads, or give them one task alone"
        )
        raise InvalidTaskError(message)

    def register(self, type: type[V], value: V, *, task: Task | None = None, qualifier: Hashable = None) -> None:  # noqa: A002
        """
        Store a value under a key that has none yet.

        Raises:
            InvalidTaskError: there is one already, the value is None, or the type is no type.

        """
        key = _key(type, task, qualifier)
        with self._lock:
            if key in self._values:
                message = f"there is a value already for {_name(key)}"
                raise InvalidTaskError(message)
            self._values[key] = _present(key, value)

    def suggest(
        self,
        type: type[V],  # noqa: A002
        factory: Callable[[], V],
        *,
        task: Task | None = None,
        qualifier: Hashable = None,
    ) -> V:
        """
        Return the value of a key; if there is none, make it, once for all who ask at the same time.

        A factory may use the supplement itself. Of factories that would wait for each other one does not wait, and
        makes the value that it asks for too; the first value that is made is everybody's.
        """
        key = _key(type, task, qualifier)
        if (value := self._awaited(key)) is not None:
            return cast("V", value)
        me = threading.get_ident()
        try:
            made = _present(key, factory())
            with self._lock:
                return cast("V", self._values.setdefault(key, made))
        finally:
            with self._made:
                if self._makers.get(key) == me:
                    del self._makers[key]
                self._made.notify_all()

    def require(self, type: type[V], *, task: Task | None = None, qualifier: Hashable = None) -> V:  # noqa: A002
        """
        Return the value of a key.

        Raises:
            LookupError: there is none.

        """
        key = _key(type, task, qualifier)
        value = self._probe(key)
        if value is None:
            message = f"no value for {_name(key)}"
            raise LookupError(message)
        return cast("V", value)

    def probe(self, type: type[V], *, task: Task | None = None, qualifier: Hashable = None) -> V | None:  # noqa: A002
        """Return the value of a key, or None."""
        return cast("V | None", self._probe(_key(type, task, qualifier)))

    def _awaited(self, key: _Key) -> Any:  # noqa: ANN401 - of the key's type
        """Return a value that is there, or that another thread makes; None if the caller is to make it."""
        me = threading.get_ident()
        with self._made:
            # Critical section: whoever begins to wait sees whether he would wait for himself.
            while key not in self._values and key in self._makers and not self._leads_to(me, key):
                self._waiting[me] = key
                self._made.wait()
                del self._waiting[me]
            if key not in self._values:
                self._makers.setdefault(key, me)
            return self._values.get(key)

    def _leads_to(self, me: int, key: _Key) -> bool:
        """Tell whether a key is made by a thread, or by one that waits for it, and so on."""
        awaited: _Key | None = key
        while awaited is not None and (maker := self._makers.get(awaited)) is not None:
            if maker == me:
                return True
            awaited = self._waiting.get(maker)
        return False

    def _probe(self, key: _Key) -> Any:  # noqa: ANN401 - of the key's type
        with self._lock:
            return self._values.get(key)


def _key(kind: Any, task: Task | None, qualifier: Hashable) -> _Key:  # noqa: ANN401 - checked here
    if not isinstance(kind, type) and get_origin(kind) is None:
        message = f"a key is a type, or a parameterised one, not {kind!r}"
        raise InvalidTaskError(message)
    return kind, task, qualifier


def _present(key: _Key, value: V) -> V:
    if value is None:
        message = f"a value must not be None: {_name(key)}"
        raise InvalidTaskError(message)
    return value


def _name(key: _Key) -> str:
    kind, task, qualifier = key
    name = getattr(kind, "__qualname__", None) if get_origin(kind) is None else None
    parts = [f"type {name or kind!s}"]
    if qualifier is not None:
        parts.append(f"qualifier {qualifier!r}")
    if task is not None:
        parts.append(f"task {task}")
    return ", ".join(parts)

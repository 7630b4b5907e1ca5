"""The calls that the harness makes on an adapter, in the adapter's process."""

import importlib
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from .adapter import Adapter
from .work import Work, payload

__all__ = ["load", "serve"]

T = TypeVar("T")


class Stream(Generic[T]):
    """Gives so many values, one each ``gap`` seconds, unless time runs out before; the clock starts with the first."""

    def __init__(self, number: int, limit: float, make: Callable[[], T], gap: float = 0) -> None:
        self.given = 0
        self.started, self.processor = time.monotonic(), time.process_time()
        self._number = number
        self._limit = limit
        self._make = make
        self._gap = gap

    def __iter__(self) -> Iterator[T]:
        self.started, self.processor = time.monotonic(), time.process_time()
        due = self.started
        while self.given < self._number and time.monotonic() < self.started + self._limit:
            if self._gap:
                due += self._gap
                time.sleep(max(0, due - time.monotonic()))
            self.given += 1
            yield self._make()


def load(name: str) -> type[Adapter]:
    """The adapter class of the name ``module:Class``."""
    module, _, kind = name.partition(":")
    found: type[Adapter] = getattr(importlib.import_module(f"{__package__}.{module}"), kind)
    return found


def serve(descriptor: int, request: dict[str, Any]) -> None:
    """Answer calls until the harness hangs up."""
    with Connection(descriptor) as harness:
        adapter = None
        try:
            adapter = load(request["adapter"])(request["target"], **request["options"])
            harness.send(("done", None))
            while True:
                name, arguments = harness.recv()
                harness.send(("done", _perform(adapter, harness, name, arguments)))
        except (EOFError, ConnectionError):
            pass
        except BaseException:  # noqa: BLE001 - told to the harness
            harness.send(("error", traceback.format_exc()))
        finally:
            if adapter is not None:
                adapter.close()


def _perform(adapter: Adapter, harness: Connection, name: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401
    if name == "work":
        work = Work(harness, **arguments)
        adapter.work(work)
        return work.result()
    if name == "push_one":
        return _push(adapter.push_one, Stream(make=payload, **arguments))
    if name == "push_bulk":
        size = arguments.pop("size")
        number, left = divmod(arguments.pop("number"), size)
        stream = Stream(number + bool(left), arguments.pop("limit"), lambda: [payload()] * size)
        return _push(adapter.push_bulk, stream, size)
    started = time.monotonic()
    value = getattr(adapter, name)(**arguments)
    return {"seconds": time.monotonic() - started, "value": value}


def _push(push: Callable[[Any], None], stream: Stream[Any], size: int = 1) -> dict[str, float]:
    push(stream)
    return {
        "seconds": time.monotonic() - stream.started,
        "processor": time.process_time() - stream.processor,
        "number": stream.given * size,
    }

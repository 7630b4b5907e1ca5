"""Races between real processes, which may die: one that has imported everything forks all the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

TIMEOUT = 100.0
"""Seconds after which a race has failed."""


def race(number: int, role: Callable[..., Any], *arguments: object) -> list[Any]:
    """Have so many processes play a role at once, each with its place among them; return what each returned."""
    spawn = multiprocessing.get_context("spawn")
    pipe, theirs = spawn.Pipe()
    yard = spawn.Process(target=_yard, args=(theirs, number, role, arguments))
    yard.start()
    theirs.close()
    try:
        assert pipe.poll(TIMEOUT), "the race has no end"
        results = pipe.recv()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(yard.pid or 0, signal.SIGKILL)
        yard.join()
        pipe.close()
    for result in results:
        assert not isinstance(result, str), result
    return [value for (value,) in results]


def lives(live: Callable[[int], None]) -> int:
    """Have a child live until it ends by itself, again and again while it dies; return how often it died."""
    deaths = 0
    while True:
        child = os.fork()
        if not child:
            os._exit(_lived(live, deaths))
        _, status = os.waitpid(child, 0)
        if status == 0:
            return deaths
        assert os.waitstatus_to_exitcode(status) != _TROUBLE, "an error ended a life"
        deaths += 1


_TROUBLE = 3


def _lived(live: Callable[[int], None], number: int) -> int:
    try:
        live(number)
    except BaseException:  # noqa: BLE001 - shown, and told by the status
        traceback.print_exc()
        return _TROUBLE
    return 0


def _yard(pipe: Connection, number: int, role: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    os.setsid()
    fork = multiprocessing.get_context("fork")
    barrier, results = fork.Barrier(number), fork.SimpleQueue()

    def play(place: int) -> None:
        try:
            barrier.wait(TIMEOUT)
            results.put((place, (role(place, *arguments),)))
        except BaseException:  # noqa: BLE001 - the test raises it
            results.put((place, traceback.format_exc()))

    members = [fork.Process(target=play, args=(place,)) for place in range(number)]
    for member in members:
        member.start()
    found = dict(results.get() for _ in members)
    for member in members:
        member.join()
    pipe.send([found[place] for place in range(number)])

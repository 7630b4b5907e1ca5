"""The run: all systems through all workloads, in turn."""

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby

from .catalogue import Role, System
from .machine import commit_milliseconds
from .results import Failure, Results, Sample, formatted
from .subject import Place, Subject
from .venvs import VenvError
from .workloads import Workload

__all__ = ["Measuring"]


class Measuring:
    """
    Measures systems and notes what comes of it.

    Args:
        place: Where it takes place.
        results: Where it is noted.
        save: Called after each workload, so that a run that is cut short keeps its figures.
        say: Told how it goes.

    """

    def __init__(self, place: Place, results: Results, *, save: Callable[[], None], say: Callable[[str], None]) -> None:
        self._place = place
        self._results = results
        self._save = save
        self._say = say

    def run(
        self,
        systems: Sequence[System],
        workloads: Sequence[Workload],
        repeats: int,
        once: Collection[str] = (),
    ) -> None:
        """
        Measure everything, workloads of some names in the first repeat only.

        The systems take turns within a workload, in the other direction each second time, so that a machine whose
        speed drifts does not favour any of them; and what they are divided by is measured between them.
        """
        able = [system for system in systems if self._able(system)]
        for repeat in range(1, repeats + 1):
            for workload in workloads if repeat == 1 else [each for each in workloads if each.name not in once]:
                skilled = [system for system in able[:: 1 if repeat % 2 else -1] if workload.skill in system.skills]
                for system in _with_floors(skilled) if workload.compared else skilled:
                    self._turn(system, workload, repeat)
                self._save()

    def _able(self, system: System) -> bool:
        """Tell whether its environment can be had."""
        try:
            self._place.venvs.python(system.venv)
        except VenvError as error:
            self._say(f"{system.name} is left out: {error}")
            self._fail(system, "installation", 0, error)
            return False
        return True

    def _turn(self, system: System, workload: Workload, repeat: int) -> None:
        load, commit = os.getloadavg()[0], commit_milliseconds(self._place.folder)
        label = f"{repeat} {workload.name:<9} {system.database.value:<10} {system.name:<18}"
        started = time.monotonic()
        subject = Subject(system, self._place)
        try:
            for measured in workload.measure(subject):
                sample = Sample(
                    database=system.database.value,
                    system=system.name,
                    metric=measured.metric,
                    repeat=repeat,
                    value=measured.value,
                    load=load,
                    commit=commit,
                    details=measured.details,
                )
                self._results.samples.append(sample)
                self._say(f"{label} {measured.metric:<18} {formatted(measured.value):>9}  load {load:.1f}")
        except Exception as error:  # noqa: BLE001 - the others go on
            failure = self._fail(system, workload.name, repeat, error)
            self._say(f"{label} failed after {time.monotonic() - started:.0f} s: {failure.summary}")
        finally:
            subject.drop()

    def _fail(self, system: System, workload: str, repeat: int, error: Exception) -> Failure:
        failure = Failure(system.database.value, system.name, workload, repeat, str(error) or repr(error))
        self._results.failures.append(failure)
        return failure


def _with_floors(systems: Sequence[System]) -> Iterator[System]:
    """Put the floor of a database before and after each two of its others."""
    for _, found in groupby(systems, key=lambda system: system.database):
        group = list(found)
        floors = [system for system in group if system.role is Role.FLOOR]
        others = [system for system in group if system.role is not Role.FLOOR]
        for place in range(0, len(others), 2):
            yield from floors
            yield from others[place : place + 2]
        yield from floors

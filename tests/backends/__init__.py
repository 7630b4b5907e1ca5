"""
The databases that tests run on: how each is provided, provisioned per test and checked for leaks.

``plugin`` holds the fixtures, ``backend`` and ``oracle`` what a test sees, ``server`` and ``oracle_server`` where the
databases come from, ``provision`` how a test gets one of its own, ``steps`` the calls that most tests begin with.
"""

from tests.backends.backend import Backend, Kind, Transaction

__all__ = ["Backend", "Kind", "Transaction"]

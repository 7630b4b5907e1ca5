"""
The databases that tests run on: how each is provided, provisioned per test and checked for leaks.

``plugin`` holds the fixtures, ``backend`` what a test sees, ``server`` where PostgreSQL comes from,
``provision`` how a test gets a database of its own, ``steps`` the calls that most tests begin with.
"""

from tests.backends.backend import Backend, Kind, Transaction

__all__ = ["Backend", "Kind", "Transaction"]

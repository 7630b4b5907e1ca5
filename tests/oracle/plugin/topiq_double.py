"""What SQLAlchemy imports for ``oracle+double`` in a program that a test has started."""

import sys
from pathlib import Path

# Last, so that the packages still come from where they are installed.
sys.path.append(str(Path(__file__).resolve().parent.parent.parent.parent))

from tests.oracle.double.dialect import DoubleDialect

__all__ = ["DoubleDialect"]

"""Run the benchmarks: ``python benchmarks/run.py --help``."""

import sys
from pathlib import Path

# In place of this file's folder, whose modules are no top-level ones. Last, so that topiq comes from where it is
# installed, if it is.
del sys.path[0]
sys.path.append(str(Path(__file__).resolve().parent.parent))

from benchmarks.harness.command import main  # noqa: E402 - found only now

if __name__ == "__main__":
    sys.exit(main())

"""What every test needs: the fixture plugin. Everything else lives beside the tests that use it."""

import sys
from pathlib import Path

# Processes started by a test must find ``tests``. Last, so that the packages still come from where they are
# installed; ``test_exports`` makes sure of that.
sys.path.append(str(Path(__file__).resolve().parent.parent))

pytest_plugins = ["tests.backends.plugin"]

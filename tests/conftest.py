"""What every test needs: the fixture plugin. Everything else lives beside the tests that use it."""

import signal
import sys
from pathlib import Path

# Processes started by a test must find ``tests``. Last, so that the packages still come from where they are
# installed; ``test_exports`` makes sure of that.
sys.path.append(str(Path(__file__).resolve().parent.parent))

# A shell that starts the tests in the background lets them ignore interrupts, and so all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.backends.plugin"]

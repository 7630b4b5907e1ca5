"""
Runs adapters in the virtual environment that they need, each in a process of its own.

Started by the harness with one socket. Each message on it names an adapter and brings a second socket: a process is
forked that serves the adapter's calls there. What is imported once is there for all of them.
"""

import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path

del sys.path[0]
sys.path.append(str(Path(__file__).resolve().parent.parent))

from benchmarks.adapters.service import load, serve  # noqa: E402 - found only now


def main() -> None:
    """Fork until the harness hangs up."""
    harness = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the harness's to answer
    while True:
        message, descriptors, _, _ = socket.recv_fds(harness, 2**16, 1)
        if not message:
            return
        request = json.loads(message)
        with contextlib.suppress(Exception):  # told by the process that was to use it
            load(request["adapter"])
        process = os.fork()
        if not process:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            harness.close()
            serve(descriptors[0], request)
            os._exit(0)  # whatever threads a queue has left
        os.close(descriptors[0])
        harness.sendall(f"{process}\n".encode())


if __name__ == "__main__":
    main()

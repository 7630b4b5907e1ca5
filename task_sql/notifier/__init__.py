"""
Wake-ups: processors resume when tasks become READY, and start and stop when that is stored.

``switchboard`` tells the processors, ``notifier`` keeps a feed of news open and heals it, ``feed`` says what a feed is,
and there is one feed for each database, and one that needs none.
"""

from .factory import create_notifier
from .notifier import Notifier
from .polling import PollingNotifier

__all__ = ["Notifier", "PollingNotifier", "create_notifier"]

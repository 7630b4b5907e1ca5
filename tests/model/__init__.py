"""A model of the queue in plain Python, and random histories that hold the repositories to it."""

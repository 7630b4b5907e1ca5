"""The commands, one module for each group; each is imported when it is called."""

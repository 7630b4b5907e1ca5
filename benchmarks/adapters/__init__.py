"""
One module for each queue, all behind one small interface.

They run in the virtual environment of that queue, so that each may import the standard library, its neighbours here
that do no more, and what that environment has.
"""

"""
Bad input at scale: every public argument with values that nobody should pass.

``values`` holds what is passed, ``arguments`` which of it goes where, ``recording`` connections that show the text of
every statement.
"""

"""Statements and their plans."""

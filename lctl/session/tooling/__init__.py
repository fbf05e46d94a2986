"""Calls of tools, from their beginning to their event."""

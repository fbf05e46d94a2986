"""Integrations of model SDKs and agent frameworks, floor F5: which calls there are and what they mean.

How to patch, when, and how to undo it is `lctl.instrument`'s. Found by entry point, never by import.

PYTEST_DONT_REWRITE: see `lctl`.
"""

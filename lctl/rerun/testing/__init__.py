"""Cassettes of tests."""

"""The fact store: what is known, to be asked for in SQL, live or in a log at any seq."""

from lctl.facts.store import FactStore, open_store

__all__ = ["FactStore", "open_store"]

"""Tool calls of a rerun."""

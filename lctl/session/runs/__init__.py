"""Steps, and runs of functions that are steps."""

"""Commands that the program's own code has run: recorded, and served in a rerun."""

"""Where a recording is forked, and what follows from there."""

"""Virtual time, and who waits for it."""

"""How far a rerun was the recorded run, and where it was not."""

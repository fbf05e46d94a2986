"""`MessageGraph`: a list of messages that remembers every context it ever was."""

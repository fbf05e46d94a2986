"""What was recorded: the tape and how it is read from logs."""

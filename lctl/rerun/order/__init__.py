"""In which order things reach the program, and who goes on next."""

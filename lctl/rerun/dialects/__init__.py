"""How each API writes an answer: read from its whole response, and written back into it."""

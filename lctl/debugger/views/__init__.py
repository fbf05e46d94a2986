"""What the panels show, each from an opened run and a question."""

"""Which recorded answer a crossing of the border gets."""

"""What `auto_instrument` was told. Apart, so that telling it imports nothing."""

#: Record every HTTP exchange, not only model calls.
full = False

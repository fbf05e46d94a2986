"""What a rerun does not do to the world, and how it ends."""

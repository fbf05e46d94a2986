"""What `auto_instrument` was told, or the environment in its place. Apart, so that it imports nothing."""

import os

#: The environment variable that turns off whatever records by itself.
DISABLED = "LCTL_DISABLED"

#: Record every HTTP exchange, not only model calls.
full = False


def is_disabled() -> bool:
    """Whether the environment turns recording off."""
    return os.environ.get(DISABLED, "").strip().lower() in ("1", "true", "yes", "on")

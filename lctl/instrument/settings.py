"""What `auto_instrument` was told, or the environment in its place. Apart, so that it imports nothing."""

import os

#: The environment variable that turns off whatever records by itself.
DISABLED = "LCTL_DISABLED"

#: The environment variable that keeps what the program reads in files out of its log, if it is `off`.
FILES = "LCTL_FILES"

#: Record every HTTP exchange, not only model calls.
full = False

#: Record what the program's own code reads in files, where its surroundings are recorded.
files = os.environ.get(FILES) != "off"


def is_disabled() -> bool:
    """Whether the environment turns recording off."""
    return os.environ.get(DISABLED, "").strip().lower() in ("1", "true", "yes", "on")

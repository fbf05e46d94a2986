"""What `auto_instrument` was told, or the environment in its place. Apart, so that it imports nothing."""

import os

#: The environment variable that turns off whatever records by itself.
DISABLED = "LCTL_DISABLED"

#: The environment variable that keeps what the program reads in files out of its log, if it is `off`.
FILES = "LCTL_FILES"

#: The environment variable that keeps commands that the program runs out of its log, if it is `off`.
COMMANDS = "LCTL_COMMANDS"

#: Record every HTTP exchange, not only model calls.
full = False

#: Record what the program's own code reads in files, where its surroundings are recorded.
files = os.environ.get(FILES) != "off"

#: Record what commands gave that the program's own code has run, likewise.
commands = os.environ.get(COMMANDS) != "off"


def is_disabled() -> bool:
    """Whether the environment turns recording off."""
    return os.environ.get(DISABLED, "").strip().lower() in ("1", "true", "yes", "on")

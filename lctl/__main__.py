"""`python -m lctl`: the command line."""

import sys

from lctl.cli import main

sys.exit(main())

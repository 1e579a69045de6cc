"""``python -m gibbsppl``: the command line."""

import sys

from gibbsppl.cli import main

sys.exit(main())

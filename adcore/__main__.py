"""`python -m adcore`: the same as the command `adcore`."""

from __future__ import annotations

import sys

from adcore.cli import main

if __name__ == "__main__":
    sys.exit(main())

from __future__ import annotations

import sys

from counted.run import main

sys.exit(main())

"""``python -m finsler.cli``."""

import sys

from finsler.cli import main

sys.exit(main())

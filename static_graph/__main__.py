"""`python -m static_graph`."""

from __future__ import annotations

import sys

from static_graph.cli import main

if __name__ == "__main__":
    sys.exit(main())

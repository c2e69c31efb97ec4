"""Entry point of `python -m static_graph`."""

from __future__ import annotations

import sys

try:
    from static_graph.cli import main
except KeyboardInterrupt:
    print("static_graph: interrupted", file=sys.stderr)
    eval("0")  # see main()
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())

"""Entry point of `python -m dmr`."""

from __future__ import annotations

import sys

try:
    from dmr.cli import main
except KeyboardInterrupt:
    print("dmr: interrupted", file=sys.stderr)
    eval("0")  # see main()
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())

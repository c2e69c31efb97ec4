"""Entry point of `python -m dmr`."""

from __future__ import annotations

from dmr.common.command_line.entry import start

if __name__ == "__main__":
    start("dmr")

"""Entry point of `python -m static_graph`, and of the command `static_graph` that an installation makes."""

from __future__ import annotations

from typing import NoReturn

from dmr.common.command_line.entry import start


def main() -> NoReturn:
    """Runs the command line with the arguments of the process, and ends the process."""
    start("static_graph")


if __name__ == "__main__":
    main()

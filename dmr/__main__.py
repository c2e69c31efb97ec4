"""Entry point of `python -m dmr`, and of the command `dmr` that an installation makes."""

from __future__ import annotations

from typing import NoReturn

from dmr.common.command_line.entry import start


def main() -> NoReturn:
    """Runs the command line with the arguments of the process, and ends the process."""
    start("dmr")


if __name__ == "__main__":
    main()

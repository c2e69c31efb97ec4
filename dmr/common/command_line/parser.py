"""Argument parser of a program with commands, and the options that its commands share. Imports no heavy modules."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from dmr.common.command_line.values import device, positive
from dmr.common.errors import OptionError

Examples = tuple[tuple[str, str], ...]


class Arguments(argparse.Namespace):
    """Parsed arguments; `module` is the name of the module that implements the command."""

    module: str
    quiet: bool = False
    verbose: bool = False


class Parser(argparse.ArgumentParser):
    """Parser whose help starts with examples and whose errors are one sentence, raised as `OptionError`."""

    examples: Examples = ()
    more: Callable[[], str] | None = None  # makes the text below the options, which is costly
    takes_words = False  # whether all unknown arguments go to `words`, unchanged and in their order
    _given: Sequence[str] = ()  # the arguments being parsed

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Returns the parsed arguments and the remaining ones."""
        self._given = [] if args is None else list(args)
        found, rest = super().parse_known_args(args, namespace)
        if not self.takes_words:
            return found, rest
        found.words = rest
        return found, []

    def format_help(self) -> str:
        """Formats examples, usage, description and options."""
        width = max((len(command) for command, _ in self.examples), default=0)
        lines = [f"  {command:{width}}  {meaning}".rstrip() for command, meaning in self.examples]
        below = f"\n{self.more()}\n" if self.more is not None else ""
        return "\n".join(["examples:", *lines, "", super().format_help()]) + below

    def error(self, message: str) -> NoReturn:
        """Raises `OptionError` and points to the help."""
        unknown = self._unknown_options()
        if unknown and message.startswith("the following arguments are required"):
            # Report a misspelt option first: it may be the only argument.
            message = f"unrecognized arguments: {' '.join(unknown)}"
        raise OptionError(f"{message} (see {self.prog} --help)")

    def _unknown_options(self) -> list[str]:
        """Given arguments that look like options but are unknown to this parser, without values (-q30 is -q)."""
        known = self._option_string_actions
        options = [word.partition("=")[0] for word in self._given if re.match(r"--?[A-Za-z]", word)]
        return [name for name in options if name not in known and (name.startswith("--") or name[:2] not in known)]


def parse_examples(text: str) -> Examples:
    """Returns the examples of a text: a call per line, and its meaning behind "  # "."""
    lines = filter(None, map(str.strip, text.splitlines()))
    return tuple((command, meaning) for command, _, meaning in (line.partition("  # ") for line in lines))


def make_parser(program: str, version: str, description: str, examples: str) -> tuple[Parser, Any]:
    """Makes the parser of a program.

    Args:
        program: how the program is called; version: the text that --version prints.
        description: a sentence; examples: calls and their meaning (`parse_examples`).

    Returns:
        The parser, and the object to which `add_command` adds commands.
    """
    parser = Parser(prog=program, description=description, allow_abbrev=False)
    parser.examples = parse_examples(examples)
    parser.add_argument("--version", action="version", version=version)
    return parser, parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)


def add_command(commands: Any, name: str, text: str, module: str | None = None) -> Parser:
    """Adds a command, with the options that all commands share.

    Args:
        commands: as `make_parser` returned it; name: the command.
        text: a sentence without a full stop, then examples (`parse_examples`).
        module: the module that implements the command (default: its name).
    """
    summary, _, examples = text.strip().partition("\n")
    parser: Parser = commands.add_parser(name, help=summary, description=f"{summary}.", allow_abbrev=False)
    parser.examples = parse_examples(examples)
    parser.set_defaults(module=module or name)
    parser.add_argument("--quiet", action="store_true", help="print only errors")
    parser.add_argument("-v", "--verbose", action="store_true", help="print more, and tracebacks of internal errors")
    return parser


def add_json(parser: Parser, text: str = "print the result as one JSON object on stdout") -> None:
    """Adds --json."""
    parser.add_argument("--json", action="store_true", help=text)


def add_device(parser: Parser) -> None:
    """Adds the options that choose the device and the threads."""
    parser.add_argument(
        "--device", type=device, default="auto", metavar="auto|cpu|cuda|cuda:N", help="where to run (default: auto)"
    )
    add_threads(parser)


def add_threads(parser: Parser) -> None:
    """Adds the number of CPU threads."""
    parser.add_argument("--threads", type=positive, metavar="N", help="CPU threads (default: all cores)")

"""Argument parser of a program with commands, and the options that its commands share. Imports no heavy modules."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from dmr.common.command_line.completion import SHELLS, PrintCompletion
from dmr.common.command_line.streams import silence
from dmr.common.command_line.values import device, positive
from dmr.common.errors import OptionError
from dmr.common.text import listing, nearest

Examples = tuple[tuple[str, str], ...]


class Arguments(argparse.Namespace):
    """Parsed arguments; `module` is the name of the module that implements the command, `flags` are its options by the
    argument that they set."""

    module: str
    flags: dict[str, str]
    quiet: bool = False
    verbose: bool = False


class Parser(argparse.ArgumentParser):
    """Parser whose help starts with examples and whose errors are one sentence, raised as `OptionError`."""

    examples: Examples = ()
    more: Callable[[], str] | None = None  # makes the text below the options, which is costly
    suggest: Callable[[Sequence[str]], str] | None = None  # another call that wrong arguments may have meant, or ""
    siblings: Mapping[str, argparse.ArgumentParser] | None = None  # all commands of the program, by name
    takes_words = False  # whether all unknown arguments go to `words`, unchanged and in their order
    _given: Sequence[str] = ()  # the arguments being parsed
    _surplus: Sequence[str] = ()  # those that mean nothing

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Returns the parsed arguments; there are no remaining ones."""
        self._given = [] if args is None else list(args)
        found, rest = super().parse_known_args(args, namespace)
        if not hasattr(found, "flags"):  # a command is parsed before the program that has it
            found.flags = self._flags()
        if self.takes_words:
            found.words = rest
        elif rest:  # argparse would report those of a command as if they were the program's
            self._surplus = rest
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return found, []

    def format_help(self) -> str:
        """Formats examples, usage, description and options."""
        width = max((len(command) for command, _ in self.examples), default=0)
        lines = [f"  {command:{width}}  {meaning}".rstrip() for command, meaning in self.examples]
        below = f"\n{self.more()}\n" if self.more is not None else ""
        return "\n".join(["examples:", *lines, "", super().format_help()]) + below

    def error(self, message: str) -> NoReturn:
        """Raises `OptionError` with a suggestion if there is a similar option, and points to the help."""
        unknown = self._unknown_options()
        if unknown and message.startswith("the following arguments are required"):
            # Report a misspelt option first: it may be the only argument.
            message = f"unrecognized arguments: {' '.join(unknown)}"
        other = self.suggest(self._given) if self.suggest is not None else ""
        elsewhere = "" if other or not unknown else self._commands_with(unknown[0])
        near = nearest(unknown[0], self._option_string_actions) if unknown and not elsewhere else ""
        meant = other or near or self._forgotten_output()
        hint = f"; did you mean {meant}?" if meant else elsewhere
        raise OptionError(f"{message}{hint} (see {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Prints the help or the version (argparse calls this, and would ignore a full disk)."""
        stream = sys.stderr if file is None else file
        try:
            stream.write(message)
            stream.flush()
        except BrokenPipeError:
            silence(stream)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuses a value that is not among the choices (argparse calls this), with the nearest one."""
        if action.choices is None or value in action.choices:
            return
        near = nearest(str(value), action.choices)
        hint = f"; did you mean {near}?" if near else ""
        if isinstance(action.choices, dict):
            unknown = self._unknown_options()
            what = f"unrecognized arguments: {unknown[0]}" if unknown else f"there is no command {value!r}"
            self.error(f"{what}{hint}")
        known = ", ".join(map(str, action.choices))
        raise argparse.ArgumentError(action, f"{value!r} is not one of {known}{hint}")

    def _forgotten_output(self) -> str:
        """Suggests -o for a single file name too many, if that option is not given; otherwise returns ""."""
        action = self._option_string_actions.get("-o")
        names = () if action is None else action.option_strings
        is_given = any(word.startswith(name) for word in self._given for name in names)
        if is_given or not names or len(self._surplus) != 1:
            return ""
        return f"-o {self._surplus[0]}" if re.fullmatch(r"[^-].*\.[A-Za-z]\w*", self._surplus[0]) else ""

    def _commands_with(self, name: str) -> str:
        """Names the other commands that have an option, or returns "" if none has."""
        found = [command for command, parser in (self.siblings or {}).items() if name in parser._option_string_actions]
        return f"; {name} is an option of {listing(found)}" if found else ""

    def _flags(self) -> dict[str, str]:
        """Returns the long name of each option, and the metavariable of each positional argument, by what it sets."""
        flags: dict[str, str] = {}
        for action in self._actions:
            name = max(action.option_strings, key=len, default=action.metavar)
            if isinstance(name, str):
                flags.setdefault(action.dest, name)
        return flags

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
    parser.add_argument(
        "--completion",
        action=PrintCompletion,
        choices=SHELLS,
        help="print a shell completion script",
    )
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
    parser.siblings = commands.choices
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

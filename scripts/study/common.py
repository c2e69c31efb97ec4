"""Helpers of the study scripts: common options, record heads, files and error handling."""

from __future__ import annotations

import argparse
import importlib.util
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from dmr.errors import DmrError, OptionError
from dmr.memory import Device
from scripts.lib.machines import commit, cuda_compiler, gpu_driver, host_compiler, machine
from scripts.lib.measuring import positive
from scripts.study.files import as_json, default_name, prepare, put, read, say

Record = dict[str, Any]
COMMON = ("format", "device", "machine", "commit")  # keys that must be equal in records to be joined


@dataclass(frozen=True)
class Study:
    """A study whose JSON record is the source of a page, a table and pictures.

    Attributes:
        kind: the first word of its files' names; its script is scripts.study plus this.
        form: format version in the record; content: key of the measurements.
        to_markdown: makes the page from the record and the names of the pictures; to_csv: makes the table.
        pictures: makes PNGs, keyed by the ends of their names.
    """

    kind: str
    form: str
    content: str
    to_markdown: Callable[[Record, Sequence[str]], str]
    to_csv: Callable[[Record], str]
    pictures: Callable[[Record], dict[str, bytes]]

    def begin(self, device: Device, options: argparse.Namespace, arguments: Sequence[str], content: Any) -> Record:
        """Starts a record without measurements, and makes the folder for its files.

        Raises:
            FileError: the folder cannot be made.
        """
        prepare(options.output)
        return {
            "format": self.form,
            "name": options.name or f"{self.kind}-{default_name(device.description, device.threads)}",
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            **described(device),
            "commit": options.commit or commit(),
            "command": f"python -m scripts.study.{self.kind} {shlex.join(arguments)}".rstrip(),
            self.content: content,
        }

    def main(
        self,
        parser: argparse.ArgumentParser,
        arguments: Sequence[str] | None,
        run: Callable[[argparse.Namespace, Sequence[str]], Record],
        agree: Callable[[Record], bool],
    ) -> int:
        """Runs or redraws the study, and prints its page; returns the exit code, 5 if results disagree.

        Args:
            parser: of the options; arguments: those of the command line (default: those of the process).
            run: runs the study, and writes its files; agree: whether all results in a record agree.
        """
        options = parser.parse_args(arguments)

        def work() -> int:
            given = sys.argv[1:] if arguments is None else arguments
            record = self.redraw(options.redraw, options.name) if options.redraw else run(options, given)
            print(self.to_markdown(record, []), end="")
            return 0 if agree(record) else 5

        return carried_out(self.kind, self.content, work)

    def keep(self, record: Record, folder: Path) -> None:
        """Writes the record in its current state."""
        say(*(f"wrote {path}" for path in put({folder / f"{record['name']}.json": as_json(record).encode()})))

    def draw(self, record: Record, folder: Path) -> None:
        """Writes the page, the table and the pictures."""
        name = record["name"]
        drawn = {f"{name}-{end}.png": picture for end, picture in self.pictures(record).items()}
        page = self.to_markdown(record, list(drawn))
        texts = {f"{name}.csv": self.to_csv(record).encode(), f"{name}.md": page.encode()}
        say(*(f"wrote {path}" for path in put({folder / file: data for file, data in {**texts, **drawn}.items()})))

    def redraw(self, paths: Sequence[Path], name: str | None) -> Record:
        """Regenerates the page, the table and the pictures beside a record; joins several records under a new name.

        Raises:
            FileError: no such file, or a record of another study.
            OptionError: several records without a name, or records that cannot be joined.
        """
        records = [read(path, self.form, self.content) for path in paths]
        record = records[0]
        if len(records) > 1 and name is None:
            raise OptionError("several records are joined under a new name: say which with --name")
        if name is not None:
            record = {**self.joined(records), "name": name}
            self.keep(record, paths[0].parent)
        self.draw(record, paths[0].parent)
        return record

    def joined(self, records: Sequence[Record]) -> Record:
        """Joins the inputs or parts of records of one machine and one commit.

        Raises:
            OptionError: they differ in more than that, or have an input or a part in common.
        """
        first, content = records[0], self.content
        for other in records[1:]:
            for key in COMMON:
                if other[key] != first[key]:
                    raise OptionError(f"records that differ cannot be joined: {key} is {first[key]} and {other[key]}")
        contents = [record[content] for record in records]
        names = [name for found in contents for name in (found if isinstance(found, dict) else map(_input, found))]
        if len(set(names)) < len(names):
            raise OptionError(f"records with {content} in common cannot be joined: {', '.join(names)}")
        commands = "\n".join(dict.fromkeys(record["command"] for record in records))
        if isinstance(contents[0], dict):
            return {**first, "command": commands, content: {k: v for found in contents for k, v in found.items()}}
        return {**first, "command": commands, content: [given for found in contents for given in found]}


def _input(given: Record) -> str:
    return str(given["input"])


def described(device: Device) -> Record:
    """Device and machine, as stored in every record."""
    on_gpu = device.threads == 0
    tools = {
        "driver": gpu_driver() if on_gpu else None,
        "compiler": cuda_compiler() if on_gpu else host_compiler(),
    }
    return {"device": device.description, "machine": machine() | tools}


def heading(study: Record, title: str) -> list[str]:
    """First lines of the page: title, machine and command."""
    about = study["machine"]
    driver = f"driver {about['driver']}, " if about["driver"] else ""
    return [
        f"# {title} on {study['device']}",
        "",
        f"{about['processor']}, {about['cores']} cores; {driver}{about['compiler']}; commit {study['commit']}.",
        "",
        f"```sh\n{study['command']}\n```",
        "",
    ]


def carried_out(kind: str, kept: str, work: Callable[[], int]) -> int:
    """Runs a script's work and returns its exit code; prints errors in one sentence.

    Args:
        kind: the script is called "study_" plus this.
        kept: units that an interrupted run has written, in the plural.
        work: does the work and returns the exit code.
    """
    try:
        if importlib.util.find_spec("matplotlib") is None:
            raise DmrError("the pictures need matplotlib: install it, or the extra [view]")
        return work()
    except DmrError as error:
        print(f"study_{kind}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"study_{kind}: interrupted; {kept} that were finished are kept", file=sys.stderr)
        return 130


def add_common(found: argparse.ArgumentParser, name: str) -> None:
    """Adds the options common to all studies; `name` describes the default name of their files."""
    add = found.add_argument
    add("--device", default="auto", metavar="NAME", help="auto (a GPU where one works), cpu, cuda, cuda:1, ...")
    add("--threads", type=positive, metavar="N", help="CPU threads (default: all cores)")
    add("-o", "--output", type=Path, default=Path("study"), metavar="FOLDER", help="default: study")
    add("--name", metavar="NAME", help=f"name of the files (default: {name})")
    add("--commit", metavar="HASH", help="commit to record where there is no checkout")


def add_parts(found: argparse.ArgumentParser, parts: Iterable[str]) -> None:
    """Adds the options of studies with several parts, which can be drawn again from their record."""
    add = found.add_argument
    add("--parts", nargs="+", choices=list(parts), default=list(parts), metavar="PART",
        help=f"of {', '.join(parts)} (default: all)")  # fmt: skip
    add_runs(found)


def add_runs(found: argparse.ArgumentParser) -> None:
    """Adds the options of studies whose cases run several times, and whose record can be drawn again."""
    add = found.add_argument
    add("--repeats", type=positive, default=5, metavar="N", help="timed runs of each case (default: 5)")
    add("--redraw", nargs="+", type=Path, metavar="FILE",
        help="regenerate tables and pictures of these records; no run")  # fmt: skip

"""The pages on lists and trees: the example, the commands and the tables agree with the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from scripts.bench import lists as bench
from scripts.study.lists import __main__ as study
from static_graph.lists.kinds import KINDS
from static_graph.lists.methods.table import METHODS
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "guide" / "graphs" / "lists-and-trees.md").read_text(encoding="utf-8")
STUDY = (ROOT / "docs" / "studies" / "list-ranking.md").read_text(encoding="utf-8")


def test_the_example_prints_what_it_says(tmp_path):
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", block],
        cwd=tmp_path,
        env=environment,
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    promised = re.findall(r"^print\(.*\)  # (\[.*\])$", block, re.MULTILINE)
    printed = [line for line in done.stdout.splitlines() if line.count("[") == 1]
    assert len(promised) >= 5 and printed == promised


@pytest.mark.slow
def test_the_commands_print_what_they_say(tmp_path):
    (session,) = re.findall(r"^```text\n(\$ .*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    commands = re.split(r"^\$ python -m static_graph ", session, flags=re.MULTILINE)[1:]
    assert {command.split()[0] for command in commands} == {"generate", "rank", "tree"}
    for command in commands:
        words, _, promised = command.partition("\n")
        done = subprocess.run(
            [sys.executable, "-m", "static_graph", *words.split(), "--device", "cpu", "--threads", "2"],
            cwd=tmp_path,
            env=environment,
            timeout=60,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert (done.returncode, without_times(done.stdout)) == (0, without_times(promised))


def without_times(text):
    """The words of each line, with no numbers of seconds."""
    text = re.sub(r"in \S+ s$", "in # s", text, flags=re.MULTILINE)
    text = re.sub(r"^( +seconds +)[\d.e-]+", r"\1#", text, flags=re.MULTILINE)
    return [line.split() for line in re.sub(r"and [\d.e-]+ for", "and # for", text).splitlines()]


def test_every_method_and_kind_is_there():
    for name, method in METHODS.items():
        row = re.search(rf"^\| `{name}` \|(.*)$", PAGE, re.MULTILINE)
        assert row and all(f"`{option}`" in row[1] for option in method.options), name
    assert all(f"| `{kind}` |" in PAGE for kind in KINDS)


@pytest.mark.parametrize(("script", "module"), [("bench.lists", bench), ("study.lists", study)])
def test_the_commands_parse(script, module):
    parser = module.parser()
    commands = re.findall(rf"^    python -m scripts\.{script} ([^#\n]*)", STUDY, re.MULTILINE)
    assert commands and all(parser.parse_args(words.split()) for words in commands)

"""Messages name what the user typed: arguments of Python in the library, flags on the command line."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import dmr
import static_graph
from dmr import domains
from dmr.cli.parsing.program import build_parser
from dmr.common.text import naming_flags, option, remedy
from dmr.errors import OptionError
from static_graph.cli.parsing.program import build_parser as build_graph_parser
from tests.support.command_line import dmr as command
from tests.support.command_line import environment, fails, written

MESH = dmr.Mesh([[0, 0], [1, 0], [1, 1]], [[0, 1, 2]])
PSLG = domains.rectangle(1, 1)
GRAPH = static_graph.CsrGraph([0, 1, 1], [1])
EMPTY = {"type": "GeometryCollection", "geometries": []}

CALLS = {
    "refine": (dmr.refine, {"mesh": PSLG}),
    "triangulate": (dmr.triangulate, {"domain": PSLG}),
    "validate": (dmr.validate, {"mesh": MESH}),
    "generate": (dmr.generate, {"kind": "random", "n": 10}),
    "view": (dmr.view, {"mesh": MESH}),
    "from_geojson": (domains.from_geojson, {"source": EMPTY}),
    "bfs": (static_graph.bfs, {"graph": GRAPH, "source": 0}),
    "sssp": (static_graph.sssp, {"graph": GRAPH, "source": 0}),
    "pagerank": (static_graph.pagerank, {"graph": GRAPH}),
    "connected_components": (static_graph.connected_components, {"graph": GRAPH}),
    "rank": (static_graph.rank, {"successors": [1, 1]}),
}
OPTIONS = [
    (function, name)
    for function, (call, needed) in CALLS.items()
    for name, parameter in inspect.signature(call).parameters.items()
    if name not in (*needed, "values") and parameter.kind is parameter.KEYWORD_ONLY
]


class Strange:
    """No option has such a value."""

    def __repr__(self):
        return "a strange value"


def said(function, name, value):
    call, needed = CALLS[function]
    with pytest.raises(OptionError) as caught:
        call(**needed, **{name: value})
    return str(caught.value)


@pytest.mark.parametrize(("function", "name"), OPTIONS)
def test_every_option_is_named_as_it_was_given(function, name):
    before = said(function, name, Strange())
    assert re.match(rf"{name}\b", before)
    with naming_flags({name: "--its-flag"}):
        assert said(function, name, Strange()) == before.replace(name, "--its-flag", 1)


def test_an_option_with_a_value_reads_as_it_is_typed():
    assert option("on_conflict", "error") == "on_conflict='error'"
    with naming_flags({"on_conflict": "--on-conflict", "convex_hull": "--convex-hull"}):
        assert option("on_conflict", "error") == "--on-conflict error"
        assert option("convex_hull", True) == "--convex-hull"
        assert option("progress", 7) == "progress=7"  # has no flag
    assert option("on_conflict") == "on_conflict"


def test_no_command_recommends_an_option_that_it_lacks():
    assert remedy("on_conflict", "error", " refuses them") == "; on_conflict='error' refuses them"
    with naming_flags({"on_conflict": "--on-conflict"}):
        assert remedy("on_conflict", "error", " refuses them") == "; --on-conflict error refuses them"
    with naming_flags({"layer": "--layer"}):
        assert remedy("on_conflict", "error", " refuses them") == ""


@pytest.mark.parametrize("build", [build_parser, build_graph_parser])
def test_every_flag_is_known_by_what_it_sets(build):
    (commands,) = (action.choices for action in build()._actions if isinstance(action.choices, dict))
    for name, parser in commands.items():
        flags = parser._flags()
        for action in parser._actions:
            long = [flag for flag in action.option_strings if flag.startswith("--")]
            assert not long or flags[action.dest].startswith("--"), (name, action.dest)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("refine a.poly -q 70", "--min-angle must be at least 0 and below 60 degrees, not 70"),
        ("refine a.poly -a 0", "--max-area must be a finite number above 0, not 0"),
        ("refine a.poly --max-seconds nan", "--max-seconds must be a finite number of seconds, at least 0, not nan"),
        (
            "refine a.poly --loop device --balance none",
            "--loop device cannot be combined with --balance none: use --loop host",
        ),
        ("refine a.poly --threads 99999", "--threads must be 1,024 at most, not 99,999"),
        (
            "refine a.poly --size 0,1",
            "--size must be a length, such as 0.1, or the name of a file with sizes, and '0,1'",
        ),
        ("refine a.poly --max-edge 5cm", "--max-edge must be a length, such as 0.1, or the name of a file with sizes"),
        ("refine a.poly --size tiny", "--size must be a length, such as 0.1, or the name of a file with sizes"),
        (
            "refine a.poly --keep-segments boundary --no-boundary-steiner",
            "argument --no-boundary-steiner: not allowed with argument --keep-segments",
        ),
        ("refine a.poly --max-area 1e-30", "--max-area 1e-30 needs at least"),
        ("validate a.npz -a 0", "--max-area must be a finite number above 0, not 0"),
        ("validate a.npz --convex-hull", "--convex-hull needs an input"),
        ("info a.npz -q 99", "--min-angle must be from 0 to 60 degrees"),
        ("generate random 2 -o b.npz", "random needs at least 4 points"),
        ("triangle -pD a.poly --threads 99999", "--threads must be"),
    ],
)
def test_commands_name_flags(words, text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dmr.write("a.npz", MESH)
    dmr.write("a.poly", PSLG)
    assert text in fails(capsys, 2, *words.split())


def test_remedies_are_typed_where_the_error_is_read(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dmr.write("open.poly", dmr.Pslg([[0, 0], [1, 0], [1, 1]], [[0, 1], [1, 2]]))
    assert "(--convex-hull)" in fails(capsys, 1, "refine", "open.poly")
    with pytest.raises(dmr.DmrError, match=r"\(convex_hull=True\)"):
        dmr.refine(dmr.read("open.poly"))
    written(tmp_path / "dots.node", "3 2 0 0\n1 0 0\n2 1 0\n3 0 1\n")
    assert "so does dmr refine --convex-hull" in fails(capsys, 1, "refine", "dots.node")
    with pytest.raises(dmr.DmrError, match=r"companions=\(\) reads the points alone"):
        dmr.read("dots.node")


@pytest.mark.parametrize("value", [np.ones(2), [1.0, 2.0], lambda points: 1.0])
def test_areas_that_vary_are_told_where_they_belong(value):
    with pytest.raises(
        OptionError, match=r"max_area must be a number, not .*: area takes an array with an area per triangle"
    ):
        dmr.refine(MESH, max_area=value)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("refin x.poly", "there is no command 'refin'; did you mean refine? (see dmr --help)"),
        ("x.poly", "there is no command 'x.poly'; did you mean dmr refine x.poly? (see dmr --help)"),
        ("refine x.poly -pq30", "unrecognized arguments: -pq30; did you mean dmr triangle -pq30 x.poly?"),
        ("refine x.poly -q30a0.1", "'30a0.1' is not a number; did you mean dmr triangle -q30a0.1 x.poly?"),
        ("-pq30 x.poly", "unrecognized arguments: -pq30; did you mean dmr triangle -pq30 x.poly?"),
        ("refine x.poly --min-angel 20", "--min-angel 20; did you mean --min-angle? (see dmr refine --help)"),
        ("refine x.poly --min 20", "--min 20; did you mean --min-angle? (see dmr refine --help)"),
        ("refine x.poly --steiner petl", "'petl' is not one of petal, off-center, circumcenter; did you mean petal?"),
        ("convert x.ele -o y.vtu", "unrecognized arguments: -o; did you mean dmr convert x.ele y.vtu? (see dmr conv"),
        (
            "triangulate x.poly -a 0.1",
            "unrecognized arguments: -a 0.1; -a is an option of refine, adapt and validate (s",
        ),
        (
            "convert x.ele y.vtu --max-edge 1",
            "; --max-edge is an option of refine, adapt and validate (see dmr convert",
        ),
        ("refine x.poly y.vtu", "unrecognized arguments: y.vtu; did you mean -o y.vtu? (see dmr refine --help)"),
        ("refine x.poly y.vtu -o z.vtu", "unrecognized arguments: y.vtu (see dmr refine --help)"),
        ("refine x.poly y.vtu z.vtu", "unrecognized arguments: y.vtu z.vtu (see dmr refine --help)"),
        ("refine x.poly 0.5", "unrecognized arguments: 0.5 (see dmr refine --help)"),
        ("info x.poly y.vtu", "unrecognized arguments: y.vtu (see dmr info --help)"),
        ("refine x.poly --qqq", "unrecognized arguments: --qqq (see dmr refine --help)"),
    ],
)
def test_misspelt_commands_and_options_are_recognised(words, text, capsys):
    assert text in fails(capsys, 2, *words.split())


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ("2 1 3", "FAR of --size-from-distance must not be below NEAR of --size-from-distance, 2, but is 1"),
        ("-1 1 3", "NEAR of --size-from-distance must be a finite number above 0, not -1"),
        ("1 2 0", "D of --size-from-distance must be a finite number above 0, not 0"),
    ],
)
def test_numbers_of_one_option_have_their_names(values, text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dmr.write("x.poly", dmr.domains.rectangle(1, 1))
    assert fails(capsys, 2, "refine", "x.poly", "--size-from-distance", *values.split()) == text


def test_adapt_takes_any_of_the_sizes(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dmr.write("x.ele", dmr.triangulate(dmr.domains.rectangle(1, 1)))
    assert "needs sizes: give --size, --max-edge, --max-area, " in fails(capsys, 2, "adapt", "x.ele")
    assert command(capsys, "adapt", "x.ele", "--max-edge", "0.2", "-o", "y.npz")[0] == 0
    assert dmr.validate(dmr.read("y.npz"), max_edge=0.2).ok


def test_python_suggests_names_of_the_package():
    done = subprocess.run(
        [sys.executable, "-c", "import dmr; dmr.refin"], capture_output=True, text=True, env=environment(), check=False
    )
    assert "Did you mean: 'refine'?" in done.stderr


# ---- Completion ----------------------------------------------------------------------------------------------------


def completed(words, program="dmr"):
    """Returns bash's completions after words, the last of which is being typed."""
    script = subprocess.run(
        [sys.executable, "-m", program, "--completion", "bash"],
        check=True, capture_output=True, text=True, env=environment(),
    ).stdout  # fmt: skip
    line = f"COMP_WORDS=({' '.join(words)}''); COMP_CWORD={len(words) - 1}; _shtab_{program}; echo ${{COMPREPLY[@]}}"
    bash = subprocess.run(["bash", "-c", f"{script}\n{line}"], check=True, capture_output=True, text=True, timeout=30)
    return bash.stdout.split()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_options_and_values():
    pytest.importorskip("shtab")
    assert completed(["dmr", "ref"]) == ["refine"]
    assert completed(["dmr", "refine", "--max-a"]) == ["--max-area"]
    assert completed(["dmr", "refine", "--steiner", "off"]) == ["off-center"]
    assert completed(["static_graph", "pag"], "static_graph") == ["pagerank"]


def test_zsh_completes_names_of_files(capsys):
    pytest.importorskip("shtab")
    code, out, err = command(capsys, "--completion", "zsh")
    assert (code, err) == (0, "") and "--output" in out and "_files" in out


def test_completion_without_shtab_names_the_remedy(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert "the extra [completion] of this package: pip install shtab" in fails(capsys, 1, "--completion", "bash")

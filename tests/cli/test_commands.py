"""`dmr info`, `validate`, `view`, `generate`, `devices` and help, in this process."""

from __future__ import annotations

import io as text_io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from dmr import io
from dmr.cli.info import histogram
from dmr.common.command_line.console import aligned, styled, writes_unicode
from dmr.domains.generation import generate
from dmr.mesh.statistics import measure
from dmr.mesh.types import Mesh, Pslg
from tests.support.command_line import dmr, fails, names
from tests.support.meshes import fan


@pytest.fixture
def folder(folder):
    io.write("input.ele", fan())
    return folder


@pytest.mark.parametrize("command", [(), ("refine",), ("validate",), ("info",), ("view",), ("generate",), ("devices",)])
def test_help_starts_with_examples(capsys, command):
    code, out, err = dmr(capsys, *command, "--help")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "examples:"
    assert lines[1].startswith("  dmr ")
    assert max(map(len, lines)) <= 120
    assert f"usage: {' '.join(('dmr', *command))}" in out


def test_usage_without_a_command_is_refused(capsys):
    _, help_text, _ = dmr(capsys, "--help")
    assert dmr(capsys) == (2, "", help_text)
    assert "COMMAND" in fails(capsys, 2, "--")
    assert (
        fails(capsys, 2, "--verison") == "unrecognized arguments: --verison; did you mean --version? (see dmr --help)"
    )
    assert (
        fails(capsys, 2, "info", "--jsno")
        == "unrecognized arguments: --jsno; did you mean --json? (see dmr info --help)"
    )
    assert "required: IN" in fails(capsys, 2, "refine", "-q30", "-a", "-1", "--steiner=petal")
    assert fails(capsys, 2, "melt") == "there is no command 'melt' (see dmr --help)"
    assert "--help" in fails(capsys, 2, "info")


def test_info_as_text(folder, capsys):
    code, out, err = dmr(capsys, "info", "input.ele")
    assert (code, err) == (0, "")
    fields = {line.split("  ")[1]: line.split()[-1] for line in out.splitlines() if line.startswith("  ")}
    assert fields["triangles"] == "7"
    assert fields["area"]
    assert "7 triangles (100.0%) below 30 degrees" in out
    assert max(map(len, out.splitlines())) <= 80


def test_info_without_a_bound_counts_no_bad_triangles(folder, capsys):
    _, out, _ = dmr(capsys, "info", "input.ele", "-q", "0")
    assert "  smallest angles\n" in out
    _, _, err = dmr(capsys, "refine", "input.ele", "-q", "0")
    assert "below" not in err
    assert "smallest angle" in err


def test_info_as_json_equals_measure(folder, capsys):
    code, out, err = dmr(capsys, "info", "input.ele", "--json", "-q", "12")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"file": "input.ele", **measure(fan(), bound=12).to_json()}


def test_info_lists_names(folder, capsys):
    named = {"regions": {1: "steel"}, "markers": {-3: "inlet", 2: "outlet"}}
    for item, name in ((fan(), "mesh.npz"), (Pslg([[0, 0], [1, 0]], [[0, 1]]), "outline.npz")):
        io.write(folder / name, replace(item, names=named))
        _, out, _ = dmr(capsys, "info", name)
        assert re.search("regions +1 steel\n", out) and re.search("markers +-3 inlet, 2 outlet\n", out)
        _, out, _ = dmr(capsys, "info", name, "--json")
        found = json.loads(out)["names"]
        assert {kind: {int(key): text for key, text in each.items()} for kind, each in found.items()} == named


def test_info_of_an_outline(folder, capsys):
    (folder / "domain.poly").write_text("3 2 0 0\n1 0 0\n2 1 0\n3 0 2\n3 0\n1 1 2\n2 2 3\n3 3 1\n1\n1 .2 .2\n")
    _, out, _ = dmr(capsys, "info", "domain.poly")
    assert "holes     1" in out
    _, out, _ = dmr(capsys, "info", "domain.poly", "--json")
    found = json.loads(out)
    assert (found["segments"], found["bounds"]) == (3, [0, 0, 1, 2])


def test_info_refuses_an_invalid_angle_bound(folder, capsys):
    assert "--min-angle must be" in fails(capsys, 2, "info", "input.ele", "-q", "90")
    assert fails(capsys, 1, "info", "none.ele").startswith("none.ele: ")


def test_histograms_scale_to_their_longest_bar():
    bins = [0] * 60
    bins[0], bins[31], bins[34], bins[59] = 1, 500, 500, 250
    drawn = histogram(bins, unicode=True)
    assert len(drawn) == 12
    assert (drawn[6].count("█"), drawn[11].count("█")) == (44, 11)
    assert drawn[0].endswith("▏"), "a single triangle can be seen"
    assert drawn[1].endswith("0.0%")
    plain = histogram(bins, unicode=False)
    assert plain[6].count("#") == 44
    assert all(line.isascii() for line in plain)


def test_validate_reports_by_its_exit_code(folder, capsys):
    io.write("input.ele", Mesh([[0, 0], [4, 0], [4, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]]))
    code, out, _ = dmr(capsys, "validate", "input.ele")
    assert code == 0, out
    assert len(out.splitlines()) > 3
    code, out, _ = dmr(capsys, "validate", "input.ele", "--min-angle", "30")
    assert code == 5
    assert "angle" in out
    code, out, _ = dmr(capsys, "validate", "input.ele", "-q", "30", "--json")
    assert code == 5
    assert json.loads(out)["ok"] is False
    assert dmr(capsys, "validate", "input.ele", "-q", "30", "--quiet") == (5, "", "")
    fails(capsys, 1, "validate", "none.ele")
    fails(capsys, 2, "validate", "input.ele", "-q", "61")


def test_validate_compares_with_the_input(folder, capsys):
    assert dmr(capsys, "refine", "input.ele")[0] == 0
    assert dmr(capsys, "validate", "input.1.ele", "--input", "input.ele", "-q", "30")[0] == 0
    io.write("other.ele", Mesh(fan().vertices + np.array([0, 1e-9]), fan().triangles))
    assert dmr(capsys, "validate", "input.1.ele", "--input", "other.ele")[0] == 5


def test_validate_compares_with_an_outline(folder, capsys):
    io.write("domain.poly", Pslg([[0, 0], [4, 0], [4, 4], [1, 1], [0, 4]], [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]))
    assert dmr(capsys, "refine", "domain.poly")[0] == 0
    assert dmr(capsys, "validate", "domain.1.ele", "--input", "domain.poly", "-q", "30")[0] == 0
    code, out, _ = dmr(capsys, "validate", "domain.1.ele", "--input", "domain.poly", "--convex-hull")
    assert code == 5
    assert "the edge of the convex hull from 2 at (4.0, 4.0)" in out


@pytest.mark.slow
def test_view_draws_into_a_file(folder, capsys, monkeypatch, drawing):
    pytest.importorskip("pyvista")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    code, out, err = dmr(capsys, "view", "input.ele", "--screenshot", "a.png", "--size", "300x200", "--no-edges")
    assert (code, out, err) == (0, "", "dmr: wrote a.png\n")
    image = pytest.importorskip("PIL.Image")
    with image.open("a.png") as picture:
        assert picture.size == (300, 200)
    assert (
        dmr(capsys, "view", "input.ele", "--compare", "input.ele", "--screenshot", "b.png", "--color", "none")[0] == 0
    )
    assert "no display" in fails(capsys, 2, "view", "input.ele")
    assert "must end in .png" in fails(capsys, 2, "view", "input.ele", "--screenshot", "a.pdf")
    assert "region" in fails(capsys, 2, "view", "input.ele", "--screenshot", "c.png", "--color", "region")
    assert "no folder" in fails(capsys, 1, "view", "input.ele", "--screenshot", "no/c.png")
    assert "is not a size" in fails(capsys, 2, "view", "input.ele", "--screenshot", "c.png", "--size", "0x9")
    assert "c.png" not in names(folder)
    (folder / "a.png").write_text("mine")
    assert fails(capsys, 2, "view", "input.ele", "--screenshot", "a.png") == "a.png exists; -f overwrites it"
    assert (folder / "a.png").read_text() == "mine"
    assert dmr(capsys, "view", "input.ele", "--screenshot", "a.png", "-f", "--quiet") == (0, "", "")


def test_generate_writes_the_mesh_of_the_library(folder, capsys):
    pytest.importorskip("triangle")
    assert dmr(capsys, "generate", "plate", "200", "-o", "plate.ele", "--seed", "4")[0] == 0
    made = generate("plate", 200, 4)
    found = io.read("plate.ele")
    assert np.array_equal(found.vertices, made.vertices)
    assert np.array_equal(found.triangles, made.triangles)
    assert len(found.segments) == len(made.segments)
    assert "exists" in fails(capsys, 2, "generate", "plate", "200", "-o", "plate.ele")
    assert dmr(capsys, "generate", "random", "1e2", "-o", "plate.ele", "-f", "--quiet") == (0, "", "")
    assert len(io.read("plate.ele").vertices) == 100
    assert "kind must be one of" in fails(capsys, 2, "generate", "cheese", "200", "-o", "x.ele")
    assert "number of points" in fails(capsys, 2, "generate", "random", "-o", "x.ele")
    assert "-o" in fails(capsys, 2, "generate", "random", "10")


def test_devices_are_listed(capsys):
    code, out, _ = dmr(capsys, "devices")
    assert code == 0
    assert out.splitlines()[1].startswith("cpu")
    code, out, _ = dmr(capsys, "devices", "--json")
    (cpu, *_) = json.loads(out)["devices"]
    assert (cpu["name"], cpu["usable"]) == ("cpu", True)
    assert cpu["threads"] >= 1
    assert cpu["memory_bytes"] > 0


def test_the_reason_for_a_missing_gpu_is_reported(folder, capsys, monkeypatch):
    from dmr.memory.cuda import discovery

    monkeypatch.setattr(discovery, "cards", lambda: ())
    monkeypatch.setattr(discovery, "absence", lambda: "this machine has\nno NVIDIA GPU")
    _, out, err = dmr(capsys, "devices")
    assert err == ""
    assert [line.split()[0] for line in out.splitlines()] == ["device", "cpu", "cuda"]
    assert out.endswith("no: this machine has no NVIDIA GPU\n")
    _, out, _ = dmr(capsys, "devices", "--json")
    assert json.loads(out)["gpu_absence"] == "this machine has\nno NVIDIA GPU"
    assert len(json.loads(out)["devices"]) == 1
    _, _, err = dmr(capsys, "refine", "input.ele", "-q", "31", "-v")
    said = "dmr: no usable GPU (this machine has no NVIDIA GPU): running on the CPU"
    assert err.splitlines().count(said) == 1


def test_an_unsupported_gpu_is_listed_with_its_reason(capsys, monkeypatch):
    from dmr.memory.cuda import discovery

    monkeypatch.setattr(discovery, "cards", lambda: (discovery.Card("an old card", 2**30, "too old"),))
    monkeypatch.setattr(discovery, "absence", lambda: None)
    _, out, _ = dmr(capsys, "devices")
    assert [line.split()[0] for line in out.splitlines()] == ["device", "cpu", "cuda:0"]
    _, out, _ = dmr(capsys, "devices", "--json")
    assert json.loads(out)["gpu_absence"] == "cuda:0 cannot be used: too old"


def test_warm_compiles_for_usable_devices(capsys, monkeypatch):
    from dmr.memory import DeviceInfo

    found = [
        DeviceInfo("cpu", "2 cores", True, None, 2**34, 2),
        DeviceInfo("cuda:0", "a card", True, None, 2**33, 0),
        DeviceInfo("cuda:1", "an old card", False, "too old", 2**30, 0),
    ]
    monkeypatch.setattr("dmr.memory.devices", lambda: found)
    monkeypatch.setattr("dmr.memory.warm", lambda name: ["grow", "mark"] if name == "cuda:0" else [])
    code, out, err = dmr(capsys, "devices", "--warm")
    assert code == 0
    assert err == "dmr: cpu: nothing to compile\ndmr: cuda:0: 2 modules ready\n"
    assert "no: too old" in out
    _, out, _ = dmr(capsys, "devices", "--warm", "--json", "--quiet")
    assert [device.get("compiled") for device in json.loads(out)["devices"]] == [[], ["grow", "mark"], []]


class Terminal(text_io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_colours_only_on_terminals_without_no_color(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert styled("x", "1", Terminal()) == "\033[1mx\033[0m"
    assert styled("x", "1", text_io.StringIO()) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert styled("x", "1", Terminal()) == "x"


def test_block_characters_only_on_unicode_streams():
    assert writes_unicode(Terminal())
    assert not writes_unicode(text_io.TextIOWrapper(text_io.BytesIO(), encoding="ascii"))


def test_tables_are_aligned():
    assert aligned([["a", "10"], ["long", "2"]], indent="") == ["a     10", "long   2"]
    assert aligned([["a", "10"], ["long", "2"]], left=(0, 1), indent="") == ["a     10", "long  2"]

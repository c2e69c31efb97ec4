"""The reader of the C++ source's declarations: its values are the compiler's, and it names what it cannot read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest

from dmr.memory import InternalError
from dmr.memory.declarations import (
    Declarations,
    Enumeration,
    constant,
    declarations,
    real_constant,
    record,
    source_folder,
)
from dmr.refinement.strategies.first_points import RUNGS
from tests.support.paths import ROOT

CXX = os.environ.get("CXX", "g++")

RECORDS = {
    "Point": [("x", "f8"), ("y", "f8")],
    "Triangle": [("vertex", "i4", 3), ("link", "i4", 3), ("owner", "u8")],
    "Subsegment": [("from", "i4"), ("to", "i4"), ("left", "i4"), ("right", "i4")],
    "BoundaryEdge": [("vertex", "i4"), ("across", "i4")],
    "Extent": [("members", "i4"), ("edges", "i4"), ("left_edges", "i4")],
    "Box": [("low_x", "f8"), ("low_y", "f8"), ("high_x", "f8"), ("high_y", "f8")],
    "TriangleCorners": [("vertex", "i4", 3)],
    "Lookup": [("slot", "i8"), ("place", "u8")],
}


def read(folder, **files):
    """The declarations of files with these texts."""
    for name, text in files.items():
        (folder / f"{name}.cu").write_text(text)
    return Declarations(folder)


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_the_fields_of_its_struct(name):
    assert record(name) == np.dtype(RECORDS[name]) and record(name) is record(name)


# Between them, these files include every declaration that Python uses.
COMPILED = [
    "graph/building/rows.cu", "graph/schemes/child_relaxation.cu", "graph/schemes/relaxation.cu",
    "graph/schemes/virtual_warps/relax_hops.cu", "graph/traversal/breadth_first.cu", "lists/checking.cu",
    "lists/pointer_jumping.cu", "mesh/angles.cu", "mesh/ordering.cu", "mesh/topology.cu", "primitives/scan.cu",
    "portable/recorded.cuh", "primitives/sorting.cu", "refine/quality/quality.cu", "refine/rounds/rounds.cu",
]  # fmt: skip
OTHER_BUILDS = {"portable/cuda.cuh", "portable/emulated.cuh", "portable/gpu.cuh"}


def included(file):
    """A file of the source, and the files that it includes."""
    text = (source_folder() / file).read_text()
    return {file}.union(*map(included, re.findall(r'^#include "(.*\.cuh)"', text, re.MULTILINE)))


def assertions(files):
    """C++ statements that what Python reads in some files is what the compiler sees."""
    declared = declarations()
    for name, texts in declared._constants.items():
        for file in files & texts.keys():
            with suppress(InternalError):  # an expression that Python does not need
                value = declared._evaluate(name, file)
                both = (name, value.hex()) if isinstance(value, float) else (f"(long long)({name})", f"{value}ll")
                yield "static_assert({} == {});".format(*both)
    for name in RECORDS:
        if files & declared._records[name].keys():
            dtype = record(name)
            yield f"static_assert(sizeof({name}) == {dtype.itemsize});"
            for field, (_, offset, *_) in dtype.fields.items():
                yield f"static_assert(__builtin_offsetof({name}, {field}) == {offset});"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(CXX) is None, reason=f"no compiler {CXX}")
def test_values_and_layouts_are_those_of_the_compiler():
    def complaints_about(file):
        program = "\n".join([f'#include "{file}"', *assertions(included(file) - OTHER_BUILDS)])
        command = [
            CXX,
            "-std=c++17",
            "-fsyntax-only",
            "-w",
            "-I",
            str(source_folder()),
            "-I",
            str(ROOT),
            "-x",
            "c++",
            "-",
        ]
        return subprocess.run(command, input=program, capture_output=True, text=True, check=False).stderr

    with ThreadPoolExecutor(2) as workers:
        assert not "".join(workers.map(complaints_about, COMPILED))


def test_the_constants_of_the_builds_are_told_apart_by_their_files():
    of = {file: constant("MOST_PIECES", file) for file in ("portable/cuda.cuh", "portable/host.cuh")}
    assert of == {"portable/cuda.cuh": 1024, "portable/host.cuh": 256}
    with pytest.raises(
        InternalError,
        match=r"MOST_PIECES is declared in portable/cuda\.cuh, portable/emulated\.cuh, portable/host\.cuh",
    ):
        constant("MOST_PIECES")


def test_there_are_as_many_rungs_as_the_survey_counts():
    assert len(RUNGS) == constant("RUNGS")


def test_an_enumeration_has_the_members_of_the_source_without_their_number():
    class Surveyed(Enumeration, count="SURVEYED"):
        """Numbers of a survey."""

    class Flag(Enumeration, enum="SurveyFlag"):
        """Flags of a survey."""

    assert [member.name for member in Surveyed] == ["STAYING", "CHOSEN", "WINDOW"] and Surveyed.WINDOW == 2
    assert {flag.name: flag.value for flag in Flag} == {"STAYS": 1, "COMPETES": 2} and Flag(2) is Flag.COMPETES
    with pytest.raises(AttributeError):
        Flag.OTHER  # noqa: B018


def test_an_expression_uses_the_constants_of_its_file_first(tmp_path):
    one = "constexpr int ITEMS = 8, TILE = ITEMS * SIZE; // comment\nconstexpr uint32 BIT = 1u << 31;"
    other = "constexpr Index ITEMS = 0x10, TILE = (ITEMS + 1) * -SIZE;\nconstexpr int64 SLICE = 50'000'000;"
    found = read(tmp_path, one=one, other=other, third="constexpr int SIZE = 100;\nenum { ANONYMOUS };")
    assert found.constant("TILE", "one.cu") == 800 and found.constant("TILE", "other.cu") == -1700
    assert found.constant("BIT") == 2**31 and found.constant("SLICE") == 50_000_000
    with pytest.raises(InternalError, match=r"TILE is declared in one\.cu, other\.cu: the file must be given"):
        found.constant("TILE")


def test_a_real_constant_is_read_from_its_file_alone(tmp_path):
    text = "constexpr float64 EPSILON = 0x1p-53, BOUND = (3.0 + 16.0 * EPSILON) * EPSILON;\n"
    assert read(tmp_path, one=text).real_constant("BOUND") == (3.0 + 16.0 * 2.0**-53) * 2.0**-53
    (tmp_path / "other.cu").write_text("KERNEL(f, Odd b) {")  # which no reader of all files accepts
    assert Declarations(tmp_path, "one.cu").real_constant("EPSILON") == 2.0**-53
    assert real_constant("EPSILON", "geometry/predicates.cuh") == 2.0**-53


@pytest.mark.parametrize(("text", "message"), [
    ("KERNEL(f, int32 *a, Odd b) {", "kernel f: cannot read the parameter 'Odd b'"),
    ("KERNEL(f, Odd *a) {", "declares no struct Odd"),
    ("KERNEL(f, int32 *a) {\n}\nTEAM_KERNEL(f, int32 *a) {", "kernel f is declared in"),
    ("KERNEL_STRUCT(S) {\n    int32 a;\n};", "the field a must be a pointer or a number of 64 bits"),
    ("KERNEL_STRUCT(S) {\n    int64 a, b;\n};", "cannot read the parameter 'int64 a, b'"),
])  # fmt: skip
def test_a_declaration_that_cannot_be_used_is_named(tmp_path, text, message):
    with pytest.raises(InternalError, match=message):
        read(tmp_path, odd=text)


@pytest.mark.parametrize(("ask", "message"), [
    (lambda found: found.constant("ABSENT"), "the C\\+\\+ source declares no constant ABSENT"),
    (lambda found: found.constant("A", "other.cu"), "other.cu declares no constant A"),
    (lambda found: found.constant("CHOSEN"), "constant CHOSEN of odd.cu: cannot read 'A \\? 1 : 2'"),
    (lambda found: found.constant("BEYOND"), "declares no constant UNKNOWN"),
    (lambda found: found.constant("HALF"), "constant HALF is 0.5, not an integer"),
    (lambda found: found.real_constant("CHOSEN"), "constant CHOSEN of odd.cu: cannot read"),
    (lambda found: found.members("Absent"), "declares no enum Absent"),
    (lambda found: found.members("Kind", "ONE"), "enum Kind of odd.cu: the last member is not ONE"),
    (lambda found: found.record("Linked"), "struct Linked of odd.cu: a record has numbers and addresses"),
])  # fmt: skip
def test_a_question_that_has_no_answer_is_an_error(tmp_path, ask, message):
    text = (
        "constexpr int A = 1, CHOSEN = A ? 1 : 2;\nconstexpr int BEYOND = UNKNOWN + 1;\n"
        "constexpr float64 HALF = 0x1p-1;\n"
        "enum Kind { ONE, TWO };\nstruct Linked {\n    Point place;\n    int32 value;\n};\n"
    )
    with pytest.raises(InternalError, match=message):
        ask(read(tmp_path, odd=text))


@pytest.mark.parametrize(
    "statement",
    [
        "import dmr, dmr.memory, dmr.refinement.options, static_graph",
        "import runpy, sys; sys.argv[1:] = ['refine', '--help']; runpy.run_module('dmr', run_name='__main__')",
        "import runpy, sys; sys.argv[1:] = ['bfs', '--help']; runpy.run_module('static_graph', run_name='__main__')",
    ],
)
def test_the_source_is_not_read_before_it_is_needed(statement):
    asks = "import atexit\nfrom dmr.memory.declarations import declarations\n"
    says = "atexit.register(lambda: print('read', declarations.cache_info().misses, 'times'))\n"
    done = subprocess.run([sys.executable, "-c", asks + says + statement], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("read 0 times\n")

"""Parsing of the switches of Shewchuk's Triangle."""

from __future__ import annotations

import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dmr.errors import OptionError
from dmr.triangle.switches import HONOURED, REFUSED, WITHOUT_EFFECT, Switches, describe, parse_switches
from tests.support.paths import ROOT

DOCUMENT = ROOT / "docs" / "guide" / "triangle-switches.md"


def parse(line):
    return parse_switches(line.split())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("A", {}),
        ("-p A", {"poly": True}),
        ("A -p", {"poly": True}),
        ("-pq A", {"poly": True, "quality": True, "min_angle": 20.0}),
        ("-pq0 A", {"poly": True, "quality": True}),
        ("-pq33.5 A", {"poly": True, "quality": True, "min_angle": 33.5}),
        ("-pq30a0.01 A", {"poly": True, "quality": True, "min_angle": 30.0, "max_area": 0.01}),
        ("-pq -a0.01 A", {"poly": True, "quality": True, "min_angle": 20.0, "max_area": 0.01}),
        ("-pa.1 A", {"poly": True, "quality": True, "max_area": 0.1}),
        ("-pa3. A", {"poly": True, "quality": True, "max_area": 3.0}),
        ("-pq25q A", {"poly": True, "quality": True, "min_angle": 20.0}),
        ("-pa1a2 A", {"poly": True, "quality": True, "max_area": 2.0}),
        ("-pa A", {"poly": True, "quality": True, "area_constraints": True}),
        ("-rpaa6.2 A", {"poly": True, "refine": True, "quality": True, "area_constraints": True, "max_area": 6.2}),
        ("-ra A", {"refine": True, "quality": True, "area_constraints": True}),
        ("-a A", {"quality": True}),  # bare points have no areas to read
        ("-pA A", {"poly": True, "region_attributes": True}),
        ("-rpA A", {"poly": True, "refine": True}),
        ("-A A", {}),
        ("-pD A", {"poly": True, "quality": True, "conforming": True}),
        ("-pL A", {"poly": True, "quality": True, "conforming": True}),
        ("-pY A", {"poly": True, "keep_segments": "boundary"}),
        ("-pYY A", {"poly": True, "keep_segments": "all"}),
        ("-Yp -YY A", {"poly": True, "keep_segments": "all"}),
        ("-pS A", {"poly": True, "max_steiner": 0}),
        ("-pS100 A", {"poly": True, "max_steiner": 100}),
        ("-pS1e3 A", {"poly": True, "max_steiner": 1000}),
        ("-po2 A", {"poly": True, "order": 2}),
        ("-cjevng A", {"convex_hull": True, "jettison": True, "edges": True, "voronoi": True, "neighbours": True,
                       "off": True}),
        ("-BPNE A", {"no_markers": True, "no_poly": True, "no_node": True, "no_ele": True}),
        ("-pIOz A", {"poly": True, "no_iteration": True, "no_holes": True, "from_zero": True}),
        ("-CQVVV A", {"check": True, "quiet": True, "verbose": 3}),
        ("-pXiFlsi A", {"poly": True, "without_effect": ("X", "i", "F", "l", "s")}),
    ],
)  # fmt: skip
def test_the_switches_of_a_line(line, expected):
    assert parse(line) == Switches(stem="A", **expected)


@pytest.mark.parametrize(
    ("number", "area", "edges", "no_ele"),
    [
        ("1e-05", 1e-5, False, False),
        ("1e5", 1e5, False, False),
        ("1E+2", 100.0, False, False),
        (".5e-3", 5e-4, False, False),
        ("1e", 1.0, True, False),
        ("1E", 1.0, False, True),
        ("1eE", 1.0, True, True),
        ("1e2e", 100.0, True, False),
    ],
)
def test_an_e_is_an_exponent_only_before_digits(number, area, edges, no_ele):
    found = parse(f"-pa{number} A")
    assert (found.max_area, found.edges, found.no_ele) == (area, edges, no_ele)


@pytest.mark.parametrize(
    ("file", "stem", "poly", "refine"),
    [
        ("A", "A", False, False),
        ("A.node", "A", False, False),
        ("A.poly", "A", True, False),
        ("A.1.ele", "A.1", False, True),
        ("some.where/A.2", "some.where/A.2", False, False),
        (".poly", ".poly", False, False),
        ("A.POLY", "A.POLY", False, False),
    ],
)
def test_the_suffix_says_what_to_read(file, stem, poly, refine):
    assert parse_switches([file]) == Switches(stem=stem, poly=poly, refine=refine)


def test_an_area_file_is_refined_by_its_areas():
    assert parse("A.1.area") == Switches(stem="A.1", refine=True, quality=True, area_constraints=True)


def refused(line):
    """The message of the error that a command line causes."""
    with pytest.raises(OptionError) as caught:
        parse(line)
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("-pqk A", "character 4 of -pqk"),
        ("-p -d A", "character 2 of -d"),
        ("-p30 A", "character 3 of -p30"),
        ("-pq1.2.3 A", "character 7 of -pq1.2.3"),
        ("-pa-1 A", "character 4 of -pa-1"),
        ("-pa1e- A", "character 6 of -pa1e-"),
        ("--frobnicate A", "character 2 of --frobnicate"),
        ("-pu A", "character 3 of -pu"),
        ("-w A", "character 2 of -w"),
        ("-po A", "character 3 of -po"),
        ("-po3 A", "character 3 of -po3"),
        ("-pa0 A", "character 3 of -pa0"),
        ("-pa1e999 A", "character 3 of -pa1e999"),
        ("-pq60 A", "character 3 of -pq60"),
        ("-pS1.5 A", "character 3 of -pS1.5"),
        ("-pS1e999 A", "character 3 of -pS1e999"),
    ],
)
def test_an_invalid_switch_is_refused_with_its_place(line, place):
    assert f"({place})" in refused(line)


def test_the_sentences_of_invalid_command_lines():
    assert refused("-pqk A").startswith("unknown switch 'k' (character 4 of -pqk)")
    assert refused("-pa0 A") == "-a0 (character 3 of -pa0): the largest area must be greater than 0 and finite"
    assert refused("-pq").startswith("no input file: ")
    assert refused("-pq 30 A").startswith("several input files: 30, A; ")
    assert refused("-rI A").startswith("-I with -r would overwrite ")


@pytest.mark.parametrize("line", ["A B", "-I A.ele"])
def test_contradictory_command_lines_are_refused(line):
    assert refused(line)


@pytest.mark.parametrize("line", ["-h", "-H", "-?", "-pqh", "-h A B"])
def test_help_needs_no_file(line):
    assert parse(line) == Switches(help=True)


def test_every_character_is_honoured_accepted_refused_or_unknown():
    known = [HONOURED, WITHOUT_EFFECT, REFUSED]
    for letter in string.printable:
        assert sum(letter in group for group in known) <= 1
        line = [f"-{letter}" + "2" * (letter == "o"), "A"]
        if letter in HONOURED or letter in WITHOUT_EFFECT:
            found = parse_switches(line)
            assert found.help or found.stem == "A"
            assert (letter in found.without_effect) == (letter in WITHOUT_EFFECT)
        else:
            with pytest.raises(OptionError, match="not supported" if letter in REFUSED else "unknown switch"):
                parse_switches(line)


def test_the_letters_match_triangle():
    usage = "prq__a__uAcDjevngBPNEIOXzo_YS__iFlsCQVh"  # its own line of usage
    hidden = "LwWH?"  # what its parser knows besides
    assert {*HONOURED, *WITHOUT_EFFECT, *REFUSED} == {*usage, *hidden} - {"_"}


def test_the_help_and_the_document_have_every_letter():
    text, document = describe(), DOCUMENT.read_text()
    for letter in {*HONOURED, *WITHOUT_EFFECT, *REFUSED}:
        assert f"\n  {letter}  " in text
        assert f"`-{letter}" in document


@given(st.floats(min_value=5e-324, allow_infinity=False, allow_nan=False))
def test_every_area_is_parsed_exactly(area):
    for text in (repr(area), f"{area:e}", f"{area:G}", f"{area:.17g}"):
        if float(text) > 0:
            found = parse_switches([f"-pa{text}e", "A"])
            assert (found.max_area, found.edges) == (float(text), True)


LETTERS = [letter for letter in {**HONOURED, **WITHOUT_EFFECT} if letter not in "qaSohH?I"]
TOKENS = st.one_of(
    st.sampled_from(LETTERS),
    st.just("o2"),
    st.tuples(st.sampled_from("qa"), st.sampled_from(["", "1", ".5", "20.", "1e1", "2.5E-1"])).map("".join),
    st.sampled_from(["S", "S0", "S12", "S1e2"]),
)


@given(st.lists(TOKENS), st.data())
def test_switches_may_be_split_into_words_around_the_file(tokens, data):
    cuts = data.draw(st.lists(st.integers(0, len(tokens)), max_size=4).map(sorted))
    ends = [0, *cuts, len(tokens)]
    words = ["-" + "".join(tokens[a:b]) for a, b in pairwise(ends)]
    words.insert(data.draw(st.integers(0, len(words))), "A.1")
    assert parse_switches(words) == parse_switches(["-" + "".join(tokens), "A.1"])


@given(st.lists(st.one_of(st.text(max_size=12), st.text(string.printable, max_size=12).map("-".__add__)), max_size=4))
def test_any_text_is_read_or_refused(words):
    try:
        found = parse_switches(words)
    except OptionError as error:
        assert str(error)
    else:
        assert found.help or found.stem

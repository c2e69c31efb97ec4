"""Parses the switches of Shewchuk's Triangle 1.6 (`triangle -pq30a0.01 A.poly`) into one frozen object.

No files are read or written here; `dmr.cli.triangle` executes the switches. Two things deliberately differ from
Triangle's own parser. Triangle skips every unknown character; here it is an error. Triangle reads a number only up to
the `e` of an exponent, so that `a1e-05` means an area of 1; here an `e` (or `E`) after a number, followed by digits or
by a sign and digits, is an exponent. Any other `e` is the switch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dmr.errors import OptionError

DEFAULT_ANGLE = 20.0  # for a q without a number

HONOURED = {
    "p": "reads a .poly file and triangulates the domain in it",
    "r": "refines a mesh (.node and .ele; with p also .poly, with an a without number also .area)",
    "q": "no angle below the number of degrees that follows, 20 without one",
    "a": "no area above the number that follows; without one, the areas of the regions (p) or of the .area file (r)",
    "A": "gives each triangle the attribute of its region (with p, without r)",
    "c": "meshes the convex hull; writes a .poly file that holds the boundary",
    "D": "every triangle Delaunay, also across segments",
    "L": "the same as D",
    "j": "leaves out vertices that no triangle uses",
    "e": "writes a .edge file",
    "v": "writes the Voronoi diagram: .v.node and .v.edge",
    "n": "writes a .neigh file",
    "g": "writes a .off file",
    "B": "writes no boundary markers",
    "P": "writes no .poly file",
    "N": "writes no .node file",
    "E": "writes no .ele file",
    "I": "no iteration numbers: A.poly gives A.node and A.ele; input files are not overwritten",
    "O": "ignores the holes of the .poly file",
    "z": "numbers from 0 where the input begins with neither 0 nor 1",
    "o": "o2 writes elements of second order, with the midpoints of their edges",
    "Y": "adds no points on the boundary; YY, on no segment",
    "S": "inserts at most the number of points that follows; none without a number",
    "C": "checks the result, in exact arithmetic",
    "Q": "prints errors only",
    "V": "prints more",
    "h": "shows this help",
    "H": "the same as h",
    "?": "the same as h",
}

WITHOUT_EFFECT = {
    "X": "predicates are always exact",
    "i": "there is one algorithm for the Delaunay triangulation",
    "F": "there is one algorithm for the Delaunay triangulation",
    "l": "there is one algorithm for the Delaunay triangulation",
    "s": "segments are inserted whole, not by splitting them at midpoints (D splits them until they are Delaunay)",
}

REFUSED = {
    "u": "it needs a user-defined test compiled into Triangle; use dmr.refine(max_edge=...) or --max-edge instead",
    "w": "weighted Delaunay triangulations are not available",
    "W": "weighted Delaunay triangulations are not available",
}

# The letters that only set a flag, and the name of the flag.
_FLAGS = {
    "p": "poly",
    "r": "refine",
    "A": "region_attributes",
    "c": "convex_hull",
    "j": "jettison",
    "e": "edges",
    "v": "voronoi",
    "n": "neighbours",
    "g": "off",
    "B": "no_markers",
    "P": "no_poly",
    "N": "no_node",
    "E": "no_ele",
    "I": "no_iteration",
    "O": "no_holes",
    "z": "from_zero",
    "C": "check",
    "Q": "quiet",
}

_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, kw_only=True)
class Switches:
    """The switches of one call of Triangle.

    Attributes:
        stem: the input's name without `.node`, `.poly`, `.ele` or `.area`; "" if only help is requested.
        poly, refine: -p and -r, also if implied by the suffix of the input.
        quality: whether points may be inserted at all: -q, -a or -D is given.
        min_angle: degrees; 0 without -q.
        max_area: the number of the last -a that has one.
        area_constraints: whether a bare -a has an effect: only with -p or -r.
        region_attributes: whether -A has an effect: only with -p and without -r.
        keep_segments: "none", "boundary" (-Y) or "all" (-YY), as for `dmr.refine`.
        max_steiner: -S; None for no limit.
        order: 2 with -o2, else 1.
        verbose: the number of occurrences of -V.
        without_effect: the given letters that have no effect; `WITHOUT_EFFECT` explains why.
        convex_hull (-c), conforming (-D), jettison (-j), edges (-e), voronoi (-v), neighbours (-n), off (-g),
        no_markers (-B), no_poly (-P), no_node (-N), no_ele (-E), no_iteration (-I), no_holes (-O), from_zero (-z),
        check (-C), quiet (-Q), help (-h): whether that switch is given.
    """

    stem: str = ""
    poly: bool = False
    refine: bool = False
    quality: bool = False
    min_angle: float = 0.0
    max_area: float | None = None
    max_steiner: int | None = None
    keep_segments: str = "none"
    order: int = 1
    verbose: int = 0
    area_constraints: bool = False
    region_attributes: bool = False
    convex_hull: bool = False
    conforming: bool = False
    jettison: bool = False
    edges: bool = False
    voronoi: bool = False
    neighbours: bool = False
    off: bool = False
    no_markers: bool = False
    no_poly: bool = False
    no_node: bool = False
    no_ele: bool = False
    no_iteration: bool = False
    no_holes: bool = False
    from_zero: bool = False
    check: bool = False
    quiet: bool = False
    help: bool = False
    without_effect: tuple[str, ...] = ()

    @property
    def writes_poly(self) -> bool:
        """Whether a .poly file is written: segments are read or -c is given, and neither -P nor -I is given."""
        return (self.poly or self.convex_hull) and not self.no_poly and not self.no_iteration


def parse_switches(words: Sequence[str]) -> Switches:
    """Parses a command line of Triangle.

    Args:
        words: all words after `triangle`, in any order: those that begin with a hyphen contain switches, and the only
            other word is the input file. If a number is given twice, the last one applies.

    Raises:
        OptionError: a letter is unknown or a number invalid (the message gives its position), a switch is not
            supported, there is not exactly one input file, or switches contradict each other.
    """
    said = [letter for word in words if word.startswith("-") for letter in _letters(word)]
    letters = [each.letter for each in said]
    if any(letter in "hH?" for letter in letters):
        return Switches(help=True)
    stem, suffix = _input_name([word for word in words if word and not word.startswith("-")])
    areas = [each.number for each in said if each.letter == "a"]
    flags = {name: letter in letters for letter, name in _FLAGS.items()}
    flags["poly"] |= suffix == ".poly"
    flags["refine"] |= suffix in (".ele", ".area")
    conforming = "D" in letters or "L" in letters
    if flags["refine"] and flags["no_iteration"]:
        raise OptionError("-I with -r would overwrite the .ele file that is refined: leave out one of them")
    flags["region_attributes"] &= flags["poly"] and not flags["refine"]
    return Switches(
        stem=stem,
        quality="q" in letters or bool(areas) or conforming or suffix == ".area",
        min_angle=_last(said, "q", 0.0),
        max_area=next((area for area in reversed(areas) if area is not None), None),
        area_constraints=(None in areas or suffix == ".area") and (flags["poly"] or flags["refine"]),
        conforming=conforming,
        keep_segments=("none", "boundary", "all")[min(letters.count("Y"), 2)],
        max_steiner=None if "S" not in letters else int(_last(said, "S", 0.0)),
        order=2 if "o" in letters else 1,
        verbose=letters.count("V"),
        without_effect=tuple(dict.fromkeys(letter for letter in letters if letter in WITHOUT_EFFECT)),
        **flags,
    )


def suggested_call(words: Sequence[str]) -> str:
    """Returns a call of `dmr triangle` if one of the words of another command consists of switches, else ""."""
    names = sorted((word for word in words if not word.startswith("-")), key=lambda word: "." not in word)
    for word in words:
        if re.match("-[A-Za-z].", word):
            try:
                list(_letters(word))
            except OptionError:
                continue
            return " ".join(["dmr triangle", word, *names[:1]])
    return ""


def describe() -> str:
    """All switches, one per line, for the help of the command."""
    lines = [
        "Triangle's switches, in one word or several (\"Triangle's switches\" in the documentation has more on each):"
    ]
    lines += [f"  {letter}  {meaning}" for letter, meaning in HONOURED.items()]
    lines += ["accepted, without effect:", *(f"  {letter}  {why}" for letter, why in WITHOUT_EFFECT.items())]
    lines += ["refused:", *(f"  {letter}  {why}" for letter, why in REFUSED.items())]
    return "\n".join(lines)


class _Said(NamedTuple):
    letter: str
    number: float | None = None


def _letters(word: str) -> Iterator[_Said]:
    """Yields the switches in a word, each with its number."""
    at = 1
    while at < len(word):
        letter, where = word[at], f"character {at + 1} of {word}"
        at += 1
        if letter in REFUSED:
            raise OptionError(f"-{letter} ({where}) is not supported: {REFUSED[letter]}")
        if letter not in HONOURED and letter not in WITHOUT_EFFECT:
            raise OptionError(_unknown(letter, where))
        if letter == "o":
            if word[at : at + 1] != "2":
                raise OptionError(f"-o ({where}) must be followed by 2, for elements of second order")
            at += 1
        number = None
        if letter in "qaS":
            match = _NUMBER.match(word, at)
            if match is not None:
                number, at = float(match[0]), match.end()
                _check_number(letter, number, f"-{letter}{match[0]} ({where})")
            elif letter == "q":
                number = DEFAULT_ANGLE
            elif letter == "S":
                number = 0.0
        yield _Said(letter, number)


def _check_number(letter: str, number: float, what: str) -> None:
    if letter == "q" and number >= 60:
        raise OptionError(f"{what}: no mesh has only angles of {number:g} degrees and more; q must be below 60")
    if letter == "a" and not (0 < number < math.inf):
        raise OptionError(f"{what}: the largest area must be greater than 0 and finite")
    if letter == "S" and not (number < 2**63 and number == int(number)):
        raise OptionError(f"{what}: the number of points must be a whole number")


def _unknown(letter: str, where: str) -> str:
    other = letter.swapcase()
    hint = f"; -{other} {HONOURED[other]}" if other in HONOURED else ""
    if letter.isdecimal() or letter in ".+-":
        hint = "; numbers follow q, a, S and o without a space"
    return f"unknown switch {letter!r} ({where}){hint}"


def _input_name(names: Sequence[str]) -> tuple[str, str]:
    """Splits the input's name into its stem and its suffix, if that is one of Triangle's."""
    if not names:
        raise OptionError("no input file: dmr triangle -SWITCHES FILE, and dmr triangle -h lists the switches")
    if len(names) > 1:
        number = any(_NUMBER.fullmatch(name) for name in names)
        hint = "; a number follows its switch without a space, as in -q30" if number else ""
        raise OptionError(f"several input files: {', '.join(names)}{hint}")
    for suffix in (".node", ".poly", ".ele", ".area"):
        stem = names[0].removesuffix(suffix)
        if stem != names[0] and stem:
            return stem, suffix
    return names[0], ""


def _last(said: Sequence[_Said], letter: str, otherwise: float) -> float:
    numbers: list[Any] = [each.number for each in said if each.letter == letter]
    return float(numbers[-1]) if numbers else otherwise

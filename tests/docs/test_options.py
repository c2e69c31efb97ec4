"""`help(dmr.refine)` is enough to use it: every argument is described there, with what it may be."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

import dmr
from dmr.refinement import options, strategy_tables
from dmr.refinement.options import RefineOptions
from dmr.triangulation import options as triangulation
from tests.support.paths import ROOT

PARAMETERS = inspect.signature(dmr.refine).parameters


def entries() -> dict[str, str]:
    """The description of each argument."""
    doc = inspect.getdoc(dmr.refine)
    assert doc is not None
    parts = re.split(r"^    (\w+): ", doc.partition("\nArgs:\n")[2].partition("\nReturns:\n")[0], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_argument_is_described_in_its_order():
    assert list(entries()) == list(PARAMETERS)


def test_options_have_the_defaults_that_refine_has():
    for each in fields(RefineOptions):
        assert PARAMETERS[each.name].default == each.default, each.name


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("steiner", options.STEINER_RULES),
        ("keep_segments", options.KEPT_SEGMENTS),
        ("marking", options.MARKINGS),
        ("balance", options.BALANCES),
        ("loop", options.LOOPS),
        ("on_conflict", triangulation.CONFLICT_POLICIES),
        ("mesher", triangulation.MESHERS),
    ],
)
def test_every_value_is_named(name, values):
    assert set(re.findall(r'"([\w-]+)"', entries()[name])) >= set(values)


def test_the_page_lists_every_strategy_and_says_which_of_them_race():
    page = (ROOT / "docs" / "guide" / "command-line.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \|(.*)\|$", page.partition("### Strategies")[2], re.MULTILINE))
    strategies = {**strategy_tables.MARKINGS, **strategy_tables.BALANCES}
    assert rows.keys() >= strategies.keys()
    assert [name for name, row in rows.items() if row.endswith("| races ")] == [
        name for name, strategy in strategies.items() if strategy.races
    ]


def test_nothing_that_a_user_does_not_have_is_named():
    assert "RefineOptions" not in inspect.getdoc(dmr.refine)

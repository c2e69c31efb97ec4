"""Unknown keyword arguments of public functions are errors of the package, which are also TypeErrors."""

from __future__ import annotations

import inspect
import pickle

import pytest

import dmr
import static_graph
from dmr import domains, io, sizing
from dmr.common.arguments import checks_keywords
from dmr.errors import WrongTypeError

FUNCTIONS = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in (dmr, domains, sizing, io, static_graph)
    for name in package.__all__
    if inspect.isfunction(getattr(package, name))
    and any(p.kind is p.KEYWORD_ONLY for p in inspect.signature(getattr(package, name)).parameters.values())
}
ANY = object()


def arguments(function):
    """Something for each argument that must be given."""
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    return {p.name: ANY for p in needed if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_names_an_option_that_it_does_not_have(name):
    if name == "dmr.adapt":  # which passes options on to refine
        pytest.skip("its options are those of dmr.refine, which checks them")
    function = FUNCTIONS[name]
    option = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY][-1]
    with pytest.raises(
        WrongTypeError, match=f"{function.__name__} has no option {option}x: did you mean {option}"
    ) as e:
        function(**arguments(function), **{f"{option}x": 1})
    assert isinstance(e.value, TypeError)


def test_what_may_have_been_meant_is_named():
    corners = [(0, 0), (1, 0), (0, 1)]
    with pytest.raises(TypeError, match=r"^refine has no option minangle: did you mean min_angle\?$"):
        dmr.refine(corners, minangle=3)
    with pytest.raises(TypeError, match=r"^refine has no option colour: help\(refine\) lists its options$"):
        dmr.refine(corners, colour="red")
    with pytest.raises(TypeError, match=r"^refine has no option minangle: did you mean min_angle\?$"):
        dmr.adapt(dmr.triangulate(corners), 0.1, minangle=3)


def test_options_without_names_are_refused():
    """As in calls of the triangle package, which takes its switches second."""
    corners = [(0, 0), (1, 0), (0, 1)]
    with pytest.raises(
        WrongTypeError, match=r"^refine takes its options by name, such as min_angle=...: 'pq30' has none$"
    ):
        dmr.refine(corners, "pq30")
    with pytest.raises(
        TypeError, match=r"^triangulate takes its options by name, such as on_conflict=...: 30 has none$"
    ):
        dmr.triangulate(corners, 30)


def test_the_function_looks_like_itself():
    def plain(first: int, *, second: int = 2) -> int:
        """Adds."""
        return first + second

    checked = checks_keywords(plain)
    assert checked(1) == 3 and checked(first=1, second=5) == 6
    assert inspect.signature(checked) == inspect.signature(plain)
    assert (checked.__name__, checked.__doc__) == ("plain", "Adds.")
    assert pickle.loads(pickle.dumps(dmr.refine)) is dmr.refine
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
        checked()

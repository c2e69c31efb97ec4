"""The names that kernels use: each compiler has the same ones, and folders of kernels include only those below them."""

from __future__ import annotations

import re

import pytest

from dmr.memory.declarations import source_folder

PORTABLE = source_folder() / "portable"
NAMESPACE = re.compile(r"^namespace \w+ \{$.*?^\} // namespace \w+$", re.MULTILINE | re.DOTALL)
TEMPLATE = r"(?:template <[^>]*>\s+)?"
MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
CONSTANT = re.compile(r"^constexpr \w+ (\w+)", re.MULTILINE)
FUNCTION = re.compile(rf"^{TEMPLATE}(?:INLINE|inline) [\w ]*?\*?([\w:]+)\(", re.MULTILINE)
STRUCT = re.compile(rf"^{TEMPLATE}struct (\w+) \{{(.*?)^\}};", re.MULTILINE | re.DOTALL)
METHOD = re.compile(rf"^    (?![ /]){TEMPLATE}(?:METHOD )?[\w:<>, /]+? (\w+)\(", re.MULTILINE)

# Each folder of kernels includes itself and the folders before it.
LAYERS = ("portable", "primitives", "geometry", "mesh", "refine", "triangulate")
ABOVE = {
    "placement": ("portable", "primitives", "geometry", "mesh", "locate", "placement"),
    "locate": ("portable", "primitives", "geometry", "mesh", "locate"),
    "optimize": ("portable", "primitives", "geometry", "mesh", "refine", "optimize"),
    "sizing": ("portable", "primitives", "geometry", "locate", "sizing"),
    "tiles": ("portable", "primitives", "geometry", "mesh", "tiles"),
    "lists": ("portable", "primitives", "lists"),
    "graph": ("portable", "primitives", "lists", "graph"),
}


def names(*files: str, after: str = "") -> set[str]:
    """The names that the files declare outside of namespaces, methods of structs as "Struct.method"."""
    text = "\n".join((PORTABLE / file).read_text() for file in files)
    text = NAMESPACE.sub("", text[text.index(after) :])
    found = {name.replace("::", ".") for kind in (MACRO, CONSTANT, FUNCTION) for name in kind.findall(text)}
    for struct, body in STRUCT.findall(text):
        found |= {struct, *(f"{struct}.{method}" for method in METHOD.findall(body.split("  private:")[0]))}
    return found


def test_nvcc_and_the_emulator_define_the_same_names():
    emulated = names("emulated.cuh", after="// ---- The definitions of cuda.cuh")
    assert names("cuda.cuh", "grid.cuh") == emulated | names("plain_kernels.cuh")


def test_a_gpu_and_a_cpu_define_the_same_names():
    gpu = names("cuda.cuh", "grid.cuh", "gpu.cuh")
    assert gpu == names("host.cuh", "plain_kernels.cuh")
    assert {"KERNEL", "WARP", "atomic_add", "prefetch", "Team.share", "Team.sum", "Grid.barrier", "Launch.teams"} <= gpu


def test_every_folder_of_kernels_has_a_layer():
    assert {path.name for path in source_folder().iterdir() if path.is_dir()} == {*LAYERS, *ABOVE}


@pytest.mark.parametrize("folder", [*LAYERS, *ABOVE])
def test_kernels_include_only_what_is_below_them(folder):
    allowed = ABOVE.get(folder, LAYERS[: LAYERS.index(folder) + 1] if folder in LAYERS else ())
    for file in sorted((source_folder() / folder).rglob("*.cu*")):
        for included in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            assert included.split("/")[0] in allowed, f"{file.name} includes {included}"

"""Runs the code of pages of the guide, and updates the output in the pages and the pictures.

    python -m scripts.make.tutorial [ocean ...]        # all pages of `PAGES`, or those named

Needs the extras [view], [plot], [skfem] and [gis], and geopandas. The blocks of a page run one after another, as one
program, in a temporary folder, where `meshes` is the checkout's; the text block after a code block holds its output.
tests/docs/test_tutorial.py and test_programs.py run the pages in the same way.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "tutorial.md"
PAGES = {  # with the folder of the pictures, which the code draws into its working folder
    page: ROOT / "docs" / "images" / page.stem
    for page in (
        PAGE,
        PAGE.with_name("sizes.md"),
        PAGE.with_name("adaptive.md"),
        PAGE.parent / "examples" / "scikit-fem.md",
        PAGE.parent / "examples" / "ocean.md",
    )
}
COLOURS = 200

# A block of code, and the block of text after it, if any.
_BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<text>.*?)^```$)?", re.MULTILINE | re.DOTALL)

# An image of a page. What the code draws and the page does not show is not kept.
_IMAGE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")


def blocks(page: str) -> list[re.Match[str]]:
    """Code blocks of a page, with the groups `code` and `text` (None without an output block)."""
    return list(_BLOCK.finditer(page))


def run(page: str, folder: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Runs the blocks of a page in a folder, one after another.

    Yields:
        Each block and its output.
    """
    names: dict[str, Any] = {"__name__": "tutorial"}
    (folder / "meshes").symlink_to(ROOT / "meshes")
    before = Path.cwd()
    for block in blocks(page):
        line = page.count("\n", 0, block.start("code"))
        # Blank lines in front make errors name the line of the page.
        code = compile("\n" * line + block["code"], str(PAGE.relative_to(ROOT)), "exec")
        printed = io.StringIO()
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(printed):
                exec(code, names)
        finally:
            os.chdir(before)
        yield block, printed.getvalue()


def with_output(page: str, folder: Path) -> str:
    """The page with the current output of its code."""
    parts, end = [], 0
    for block, printed in run(page, folder):
        parts += [page[end : block.start()], f"```python\n{block['code']}```"]
        if printed:
            parts.append(f"\n\n```text\n{printed}```")
        end = block.end()
    return "".join([*parts, page[end:]])


def main() -> int:
    """Runs the pages and rewrites them; returns the exit code."""
    asked = sys.argv[1:] or [page.stem for page in PAGES]
    for page, images in PAGES.items():
        if page.stem not in asked:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            text = with_output(page.read_text(encoding="utf-8"), folder)
            shutil.rmtree(images, ignore_errors=True)
            images.mkdir(parents=True)
            shown = {Path(image).name for image in _IMAGE.findall(text)}
            for drawn in sorted(path for path in folder.glob("*.png") if path.name in shown):
                with Image.open(drawn) as picture:
                    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(images / drawn.name, optimize=True)
                print(f"{(images / drawn.name).relative_to(ROOT)}: {(images / drawn.name).stat().st_size:,} bytes")
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Draws meshes, in a window on a machine with a display, or to an image file on any machine.

pyvista and VTK are optional (the extra [view]) and imported when first needed. VTK draws in 32-bit floats, so the
coordinates are first shifted and scaled to a unit box: a mesh far from the origin looks as crisp as one near it. Images
are drawn at twice their size and averaged down, which antialiases edges and text alike.
"""

from __future__ import annotations

import ctypes
import importlib
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import checks_keywords, chosen, listed, shortened, switch, whole_option
from dmr.common.files.replacing import check_target, replace_files, write_bytes
from dmr.common.text import option
from dmr.errors import DmrError, OptionError
from dmr.mesh.arguments import check_kind, file_path
from dmr.mesh.edges import unique_edges
from dmr.mesh.pictures.quantities import QUANTITIES
from dmr.mesh.shapes import bounding_box
from dmr.mesh.types import Float, Int, Mesh, Pslg
from dmr.viewing.colours import INK, ColourScale, draw_legend
from dmr.viewing.interrupts import keep_interrupt

IMAGE_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}

_PLAIN_FACE = "#dbe6f0"
_EDGE_INK = "#3f5266"  # lighter than segments, so that these stand out
_MARGIN = 0.03  # as a fraction of the panel's smaller side
_TITLE, _LEGEND = 44, 84  # height of the strips above and below the mesh, in pixels
_ROOM = (240, 200)  # the smallest picture with strips of full size; smaller pictures have smaller strips,
_SMALLEST_STRIPS = 0.5  # and pictures of less than half the size have none, because they would be illegible
_TITLE_SIZE, _SMALLEST_TITLE = 18, 9  # of letters, in pixels
_LETTER = 0.56  # mean width of a letter as a fraction of its size
_BOLD = 1.8  # width of segments, in pixels
_EDGE_FADES = (2.0, 12.0)  # an edge with less space than the first (pixels) is not drawn; above the second it is solid


@dataclass(frozen=True)
class _Frame:
    """The common bounding box of all panels: drawn coordinates are (vertices - center) / size."""

    center: Float
    size: float
    width: float
    height: float


LARGEST_WINDOW = 8192  # pixels; images are drawn at twice the size


@checks_keywords
def view(
    mesh: Mesh | Pslg,
    *,
    color: str | None = "min_angle",
    screenshot: str | Path | None = None,
    compare: Mesh | Pslg | None = None,
    edges: bool = True,
    window_size: tuple[int, int] | None = None,
    titles: tuple[str, ...] = (),
) -> None:
    """Shows a mesh in a window, or draws it to an image file.

    Args:
        mesh: the mesh to show. A `Pslg` is drawn as its segments.
        color: the quantity that colours the triangles: "min_angle", "area", "region" (column 0 of
            `triangle_attributes`), or None.
        screenshot: an image file (.png or .jpg) to write instead of opening a window; needs no display.
        compare: a second mesh, drawn beside the first at the same scale; the two views move together.
        edges: whether to draw the edges of triangles. Edges fade out where the mesh is too fine for the picture.
        window_size: width and height in pixels; by default chosen to fit the mesh.
        titles: a title above each mesh.

    Raises:
        OptionError: the colour or image format is unknown, or a window is requested without a display.
        DmrError: pyvista is not installed, or there is nothing to draw.
        FileError: the image cannot be written.
        WrongTypeError: `mesh` or `compare` is neither a Mesh nor a Pslg.
    """
    check_kind(mesh, Mesh, Pslg)
    if compare is not None:
        check_kind(compare, Mesh, Pslg, name="compare")
    meshes = [mesh] if compare is None else [mesh, compare]
    color = None if color is None else chosen("color", color, QUANTITIES)
    edges, titles = switch("edges", edges), tuple(str(title) for title in listed("titles", titles))
    window_size = None if window_size is None else _checked_size(window_size)
    if any(not len(each.triangles if isinstance(each, Mesh) else each.vertices) for each in meshes):
        raise DmrError("there is nothing to draw: the mesh has no triangles, or the graph no vertices")
    target = _checked_target(screenshot)
    pv = _import_pyvista()

    frame = _common_frame(meshes)
    scale = None
    if color is not None and any(isinstance(each, Mesh) for each in meshes):
        scale = ColourScale.over([each for each in meshes if isinstance(each, Mesh)], color)
    title, bar = _TITLE if any(titles) else 0, _LEGEND if scale else 0
    width, height = window_size or _fitting_size(frame, len(meshes), title + bar)
    fit = _strip_scale(width, height)
    title, bar = round(title * fit), round(bar * fit)
    ratio = 1 if target is None else 2
    # The meshes are drawn side by side above one strip with the colour legend, which they share.
    plotter = pv.Plotter(
        shape=(2, len(meshes)) if bar else (1, len(meshes)),
        groups=[(1, slice(None))] if bar else None,
        row_weights=[max(height - bar, 1), bar] if bar else None,
        off_screen=target is not None,
        window_size=(width * ratio, height * ratio),
        border=False,
    )
    try:
        with keep_interrupt():  # VTK discards exceptions raised in its Python methods
            plotter.set_background("white", all_renderers=True)
            for panel, each in enumerate(meshes):
                plotter.subplot(0, panel)
                unit = _aim(plotter, frame, width // len(meshes), max(height - bar, 1), title)
                _draw(pv, plotter, each, frame, scale, ratio, unit, edges)
                if title and panel < len(titles):
                    _add_title(plotter, titles, panel, width // len(meshes), height - bar, fit, ratio)
            if scale is not None and bar:
                plotter.subplot(1, 0)
                draw_legend(pv, plotter, scale, width / fit, bar / fit, ratio * fit)
            if len(meshes) > 1:
                plotter.link_views(list(range(len(meshes))))
            if target is None:
                plotter.enable_2d_style()
                plotter.enable_anti_aliasing("msaa", multi_samples=8)
                plotter.show(title=" | ".join(titles) or "dmr")
                return
            pixels = plotter.screenshot(None, return_img=True)
        _write_image(pixels, target, ratio)
    finally:
        plotter.close()


def _checked_target(screenshot: str | Path | None) -> Path | None:
    """Checks the image file to be written; None for a window, which needs a display."""
    if screenshot is None:
        if not has_display():
            raise OptionError(f"there is no display for a window: {option('screenshot', 'mesh.png')} draws without one")
        return None
    target = file_path(screenshot, "screenshot")
    if target.suffix.lower() not in IMAGE_FORMATS:
        raise OptionError(f"an image file must end in {', '.join(IMAGE_FORMATS)}, not {target.suffix or target.name!r}")
    check_target(target, overwrite=True)
    return target


def _checked_size(window_size: Any) -> tuple[int, int]:
    """Checks the width and height of a window."""
    size = [whole_option("window_size", length) for length in listed("window_size", window_size)]
    if len(size) != 2 or not all(1 <= length <= LARGEST_WINDOW for length in size):
        raise OptionError(
            f"{option('window_size')} must be two numbers from 1 to {LARGEST_WINDOW:,}, not {shortened(window_size)}"
        )
    return size[0], size[1]


def has_display() -> bool:
    """Whether a window can be opened here."""
    if sys.platform.startswith(("win", "darwin")):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _import_pyvista() -> Any:
    try:
        pv = importlib.import_module("pyvista")
        core = importlib.import_module("vtkmodules.vtkCommonCore")
    except ImportError as error:
        raise DmrError(
            f"pictures need pyvista, the extra [view] of this package: pip install pyvista ({error})"
        ) from error
    # VTK tries an X server before it draws without one, and reports the failure on stderr each time.
    core.vtkLogger.SetStderrVerbosity(core.vtkLogger.VERBOSITY_OFF)
    _choose_opengl()
    return pv


def _choose_opengl() -> None:
    """Selects the library that VTK draws with. By default VTK looks for an X server, then for EGL and OSMesa, and it
    terminates the process if one of their libraries is missing.
    """
    if not sys.platform.startswith("linux") or "VTK_DEFAULT_OPENGL_WINDOW" in os.environ:
        return
    if has_display() and _loads("libX11.so.6"):
        return
    for library, window in (("libEGL.so.1", "vtkEGLRenderWindow"), ("libOSMesa.so.8", "vtkOSOpenGLRenderWindow")):
        if _loads(library):
            os.environ["VTK_DEFAULT_OPENGL_WINDOW"] = window
            return
    raise DmrError("pictures need OpenGL, which this system lacks: apt install libegl1 libgl1-mesa-dri (on Debian)")


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _common_frame(meshes: list[Mesh | Pslg]) -> _Frame:
    boxes = np.array([bounding_box(each.vertices) for each in meshes])
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    # Halve before adding: the sum of two huge coordinates could overflow.
    size = float((high / 2 - low / 2).max() * 2) or 1.0
    width, height = ((high / 2 - low / 2) / size * 2).tolist()
    return _Frame(low / 2 + high / 2, size, max(width, 0.02), max(height, 0.02))


def _fitting_size(frame: _Frame, panels: int, strips: int) -> tuple[int, int]:
    """The size of a window that the mesh fills: 1,500 pixels for its longer side, or 1,000 for two meshes."""
    longer = 1500 if panels == 1 else 1000
    width, height = max(longer * frame.width, 480.0), max(longer * frame.height, 120.0)
    return int(width * (1 + 2 * _MARGIN)) * panels, int(height + 2 * _MARGIN * width) + strips


def _strip_scale(width: int, height: int) -> float:
    """The scale of the strips for title and legend, at most 1; 0 if a picture is too small for them."""
    fit = min(1.0, width / _ROOM[0], height / _ROOM[1])
    return fit if fit >= _SMALLEST_STRIPS else 0.0


def _aim(plotter: Any, frame: _Frame, width: int, height: int, title: int) -> float:
    """Positions the camera so that the mesh fills its panel below the title; returns pixels per drawn unit."""
    free = max(height - title, height // 4)
    margin = 2 * _MARGIN * min(width, free)
    pixels = min((width - margin) / frame.width, (free - margin) / frame.height)
    shift = title / 2 / pixels  # the middle of the free part is this far below the middle of the panel
    camera = plotter.camera
    camera.parallel_projection = True
    camera.focal_point = (0.0, shift, 0.0)
    camera.position = (0.0, shift, 1.0)
    camera.up = (0.0, 1.0, 0.0)
    camera.parallel_scale = height / 2 / pixels
    camera.clipping_range = (0.5, 1.5)
    return float(pixels)


def _draw(
    pv: Any,
    plotter: Any,
    mesh: Mesh | Pslg,
    frame: _Frame,
    scale: ColourScale | None,
    ratio: int,
    unit: float,
    edges: bool,
) -> None:
    """Draws one panel: faces, then thin edges, then bold segments, each a little nearer to the camera."""
    flat = ((mesh.vertices - frame.center) / frame.size).astype(np.float32)
    bold = mesh.segments
    if isinstance(mesh, Mesh):
        faces = pv.PolyData.from_regular_faces(_lifted(flat, 0.0), mesh.triangles)
        style: dict[str, Any] = {"color": _PLAIN_FACE}
        if scale is not None:
            faces.cell_data["rgb"] = scale.paint(mesh)
            style = {"scalars": "rgb", "rgb": True}
        plotter.add_mesh(faces, lighting=False, copy_mesh=False, **style)
        if edges:
            _draw_edges(pv, plotter, flat, mesh.triangles, unit, ratio)
        ends, sides = unique_edges(mesh)
        bold = np.concatenate((bold, ends[sides == 1]))
    if len(bold):
        lines = pv.PolyData(_lifted(flat, 0.02), lines=_cells(bold))
        plotter.add_mesh(lines, color=INK, line_width=_BOLD * ratio, lighting=False)
        # A line shorter than a pixel is not drawn at its full width, so it is replaced by a dot.
        short = np.abs(flat[bold[:, 0]] - flat[bold[:, 1]]).max(axis=1) * unit < _BOLD
        if short.any():
            dots = pv.PolyData(_lifted(flat[bold[short, 0]], 0.02))
            plotter.add_mesh(dots, color=INK, point_size=_BOLD * ratio, lighting=False)
    if isinstance(mesh, Pslg) or not len(mesh.triangles):
        points = pv.PolyData(_lifted(flat, 0.02))
        plotter.add_mesh(points, color=INK, point_size=4.0 * ratio, lighting=False, render_points_as_spheres=False)


def _add_title(
    plotter: Any, titles: tuple[str, ...], panel: int, width: int, height: int, fit: float, ratio: int
) -> None:
    """Adds the title of a panel of `width` x `height` pixels. The letters are smaller if any title is long; if a title
    does not fit even in the smallest letters, its middle is omitted.
    """
    title = titles[panel]
    size = min(_TITLE_SIZE * fit, width / (_LETTER * max(map(len, titles))))
    if size < _SMALLEST_TITLE:
        size = min(_TITLE_SIZE * fit, _SMALLEST_TITLE)
        kept = max(int(width / (_LETTER * size)) - 3, 2)
        if kept + 3 < len(title):
            title = f"{title[: kept // 2]}...{title[-(kept - kept // 2) :]}"
    place = (0.5, 1 - 0.28 * _TITLE * fit / height)
    text = plotter.add_text(title, position=place, viewport=True, color=INK, font="arial")
    style = text.GetTextProperty()
    style.SetFontSize(max(round(size * ratio), 1))
    style.SetJustificationToCentered()
    style.SetVerticalJustificationToTop()


def _draw_edges(pv: Any, plotter: Any, flat: NDArray[np.float32], triangles: Int, unit: float, ratio: int) -> None:
    """Draws thin edges, whose opacity depends on the size of the adjacent triangles, so that a fine mesh is not black.

    Each triangle draws its own three edges, so an edge between two triangles gets its opacity from both.
    """
    corners = flat[triangles]
    along = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]
    length = np.sqrt((along * along).sum(axis=2))
    area = np.abs(along[:, 0, 0] * along[:, 1, 1] - along[:, 0, 1] * along[:, 1, 0])[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(length > 0, area / length, 0) * unit
    low, high = _EDGE_FADES
    opacity = np.clip((room - low) / (high - low), 0, 1).ravel()
    shown = np.flatnonzero(opacity > 0.02)
    if not len(shown):
        return
    ends = np.column_stack((triangles[:, [1, 2, 0]].ravel()[shown], triangles[:, [2, 0, 1]].ravel()[shown]))
    lines = pv.PolyData(_lifted(flat, 0.01), lines=_cells(ends))
    rgba = np.empty((len(shown), 4), np.uint8)
    rgba[:, :3] = pv.Color(_EDGE_INK).int_rgb
    # Two layers of opacity a give 1 - (1 - a)^2; 0.5 twice gives 0.75.
    rgba[:, 3] = np.rint(255 * 0.5 * opacity[shown])
    lines.cell_data["ink"] = rgba
    plotter.add_mesh(lines, scalars="ink", rgba=True, line_width=0.7 * ratio, lighting=False)


def _lifted(flat: NDArray[np.float32], z: float) -> NDArray[np.float32]:
    points = np.empty((len(flat), 3), np.float32)
    points[:, :2] = flat
    points[:, 2] = z
    return points


def _cells(ends: Int) -> NDArray[np.int64]:
    """Converts lines to VTK's format: 2, start, end, 2, start, end, ..."""
    cells = np.full((len(ends), 3), 2, np.int64)
    cells[:, 1:] = ends
    return cells.ravel()


def _write_image(pixels: NDArray[np.uint8], target: Path, ratio: int) -> None:
    """Averages `ratio` x `ratio` pixels into one and moves the finished file into place."""
    image = importlib.import_module("PIL.Image")
    tall, wide, _ = pixels.shape
    blocks = pixels[: tall // ratio * ratio, : wide // ratio * ratio, :3].reshape(
        tall // ratio, ratio, wide // ratio, ratio, 3
    )
    smooth = np.rint(blocks.mean(axis=(1, 3), dtype=np.float32)).astype(np.uint8)
    file = io.BytesIO()
    image.fromarray(smooth).save(file, IMAGE_FORMATS[target.suffix.lower()])
    replace_files([(target, lambda descriptor: write_bytes(descriptor, file.getbuffer()))], overwrite=True)

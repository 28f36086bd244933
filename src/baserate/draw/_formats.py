"""Files of figures: vector formats with text that stays text, and pictures with a resolution."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate.draw._style import STYLE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURES = ("svg", "pdf", "eps", "png", "tiff", "tif")
DEFAULT_DPI = 300
"""Dots per inch of pictures: the least that journals accept."""
SETTINGS: Any = {
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "baserate",
    "text.hinting": STYLE["text.hinting"],
}
"""Text as text in SVG, fonts embedded as TrueType in PDF and EPS, reproducible identifiers, and text of one width."""
_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "eps": {"Creator": "baserate"},
}
"""Metadata to leave out, so that equal numbers give equal files."""


def render(figure: Figure, form: str, dpi: float) -> bytes:
    """Return the content of a file; equal figures give equal files."""
    if form in ("tiff", "tif"):
        return _render_tiff(figure, dpi)
    if form == "eps":
        with opaque_colors(figure):
            content = _save(figure, form, dpi)
        return re.sub(rb"%%(CreationDate|Title): .*\n", b"", content)
    return _save(figure, form, dpi)


def _save(figure: Figure, form: str, dpi: float) -> bytes:
    from matplotlib import rc_context

    buffer = BytesIO()
    with rc_context(SETTINGS):
        figure.savefig(buffer, format=form, dpi=dpi, metadata=_METADATA[form])
    return buffer.getvalue()


def _render_tiff(figure: Figure, dpi: float) -> bytes:
    """Return a TIFF without an alpha channel, which journals refuse, compressed without loss."""
    from PIL import Image

    buffer = BytesIO()
    picture = Image.open(BytesIO(_save(figure, "png", dpi))).convert("RGB")
    picture.save(buffer, format="TIFF", compression="tiff_lzw", dpi=(dpi, dpi))
    return buffer.getvalue()


@contextmanager
def opaque_colors(figure: Figure) -> Iterator[None]:
    """Replace transparent colors by their mixture with white, since EPS has no transparency."""
    overlaps = [each for ax in figure.axes for each in _add_overlaps(ax)]
    restore = []
    for artist in figure.findobj():
        for name in ("facecolor", "edgecolor", "color"):
            before = _transparent_color(artist, name)
            if before is not None:
                restore.append((artist, name, before, artist.get_alpha()))
    try:
        for artist, name, before, _ in restore:
            artist.set_alpha(None)
            getattr(artist, f"set_{name}")(_mix_with_white(before))
        yield
    finally:
        for patch in overlaps:
            patch.remove()
        for artist, name, before, alpha in restore:
            getattr(artist, f"set_{name}")(before)
            artist.set_alpha(alpha)


def _add_overlaps(ax: Axes) -> Iterator[Artist]:
    """Add the areas where two bands overlap, in the color of both: opaque bands would hide each other."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    bands = [each for each in ax.collections if isinstance(each, PolyCollection) and each.get_alpha() is not None]
    for below, above in combinations([each for each in bands if each.get_paths()], 2):
        (under,), (over,) = (np.asarray(each.get_facecolor()) for each in (below, above))
        color = over[3] * over[:3] + (1 - over[3]) * np.asarray(_mix_with_white(tuple(under)))[:3]
        area, window = (Path.make_compound_path(*each.get_paths()) for each in (below, above))
        patch = PathPatch(area, facecolor=color, linewidth=0, zorder=above.get_zorder())
        ax.add_artist(patch)  # not as a patch of the data, which would change the limits
        patch.set_clip_path(window, ax.transData)
        yield patch


def _transparent_color(artist: Artist, name: str) -> Any:  # noqa: ANN401  (a color or an array of them)
    """Return the color of an artist with its opacity, if it is neither opaque nor invisible."""
    from matplotlib.collections import Collection
    from matplotlib.colors import to_rgba, to_rgba_array
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    has_color = isinstance(artist, Line2D) if name == "color" else isinstance(artist, Collection | Patch)
    if not has_color:
        return None
    color = getattr(artist, f"get_{name}")()
    if isinstance(artist, Collection):
        rgba = to_rgba_array(color)
        return rgba if len(rgba) and ((rgba[:, 3] > 0) & (rgba[:, 3] < 1)).any() else None
    one = to_rgba(color, artist.get_alpha() if name == "color" else None)
    return one if 0 < one[3] < 1 else None


def _mix_with_white(color: Any) -> Any:  # noqa: ANN401  (as of `_transparent_color`)
    rgba = np.atleast_2d(np.asarray(color, dtype=np.float64))
    mixed = np.where(rgba[:, 3:] > 0, 1 - rgba[:, 3:] * (1 - rgba[:, :3]), rgba[:, :3])
    opaque = np.column_stack([mixed, np.where(rgba[:, 3] > 0, 1.0, 0.0)])
    return opaque if np.ndim(color) == 2 else tuple(opaque[0].tolist())

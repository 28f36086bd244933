"""Formats of figures: editable text, embedded fonts, TIFF for journals, and EPS without transparency."""

from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from baserate import OptionError, draw
from baserate.draw._formats import opaque_colors, render
from tests.draw.drawings import make_tallies

CURVE = draw.roc(make_tallies(models=2), band=True, threshold=0.5, width="85mm")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("ending", ["tiff", "tif"])
def test_tiff_is_compressed_opaque_and_has_its_resolution(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"roc.{ending}"
    CURVE.save(path, dpi=600)
    with Image.open(path) as picture:
        assert picture.mode == "RGB"
        assert picture.info["compression"] == "tiff_lzw"
        assert [float(each) for each in picture.info["dpi"]] == [600, 600]
        assert picture.size[0] == pytest.approx(85 / 25.4 * 600, abs=1)


def test_resolution_of_pictures_is_that_of_journals(tmp_path: Path) -> None:
    CURVE.save(tmp_path / "roc.tiff")
    with Image.open(tmp_path / "roc.tiff") as picture:
        assert [float(each) for each in picture.info["dpi"]] == [300, 300]


def test_text_of_svg_is_text(tmp_path: Path) -> None:
    CURVE.save(tmp_path / "roc.svg")
    root = ET.fromstring((tmp_path / "roc.svg").read_text(encoding="utf-8"))  # noqa: S314  (we wrote it)
    texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    assert {"Sensitivity", "1 − Specificity", "Chance", "100%"} <= {*texts}
    style = next(each for each in root.iter(f"{SVG}text")).attrib["style"]
    assert "Arial" in style  # for readers without the first font


def test_fonts_are_embedded_as_truetype(tmp_path: Path) -> None:
    CURVE.save(tmp_path / "roc.pdf")
    assert b"/FontFile2" in (tmp_path / "roc.pdf").read_bytes()
    CURVE.save(tmp_path / "roc.eps")
    content = (tmp_path / "roc.eps").read_bytes()
    assert content.startswith(b"%!PS-Adobe-3.0 EPSF")
    assert b"/FontType 42" in content
    assert b"CreationDate" not in content


def test_bands_of_eps_are_pale(tmp_path: Path) -> None:
    band = CURVE.ax.collections[0]
    before = band.get_facecolor()
    with opaque_colors(CURVE.figure):
        mixed = np.asarray(band.get_facecolor())[0]
        assert mixed[3] == 1
        alpha = np.asarray(before)[0][3]
        assert mixed[:3] == pytest.approx(1 - alpha * (1 - np.asarray(before)[0][:3]))
    assert np.array_equal(band.get_facecolor(), before)
    CURVE.save(tmp_path / "roc.eps")
    color = " ".join(f"{round(each, 3):g}" for each in mixed[:3])
    assert f"{color} setrgbcolor".encode() in (tmp_path / "roc.eps").read_bytes()


def test_colors_of_eps_are_those_of_transparent_bands() -> None:
    """Painted by the same program, the opaque figure has the pixels of the transparent one, overlaps included."""
    overlapping = draw.roc(make_tallies(150, models=2), band=True, width="85mm").figure
    transparent = np.asarray(Image.open(BytesIO(render(overlapping, "png", 100))).convert("RGB"), dtype=np.float64)
    with opaque_colors(overlapping):
        opaque = np.asarray(Image.open(BytesIO(render(overlapping, "png", 100))).convert("RGB"), dtype=np.float64)
    again = np.asarray(Image.open(BytesIO(render(overlapping, "png", 100))).convert("RGB"), dtype=np.float64)
    assert np.array_equal(again, transparent)
    # Edges are smoothed in another way.
    assert (np.abs(opaque - transparent).max(axis=2) > 4).mean() < 0.02


def test_a_failed_file_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "roc.tiff"
    path.write_bytes(b"old")

    def fail(*_args: object) -> bytes:
        raise OSError("no space")

    monkeypatch.setattr("baserate.draw._figure.render", fail)
    with pytest.raises(OSError, match="no space"):
        CURVE.save(path)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["roc.tiff"]


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"expected \.svg, \.pdf, \.eps, \.png, \.tiff, \.csv or \.json"):
        CURVE.save(tmp_path / "roc.bmp")

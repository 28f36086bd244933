"""Gain and lift."""

from pathlib import Path

import pytest

from baserate import BadOption, draw, measure, tally
from tests.draw.drawings import is_kept, lines_of, people

FACE = tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])


def test_a_drawing_keeps_its_numbers_and_paints_them_again() -> None:
    is_kept(draw.gain(people(models=2)))
    is_kept(draw.lift(people(group=True)))


def test_lines_are_the_curve() -> None:
    made = draw.gain(FACE)
    expected = measure.curves(people(), "gain", points=1000)
    assert list(made.parts["curve"].columns) == list(expected.columns)
    assert lines_of(made.ax)[1].tolist() == [[0, 0], [0.25, 0.5], [0.5, 0.5], [0.75, 1], [1, 1]]


def test_a_single_line_needs_no_name_and_several_have_theirs() -> None:
    alone = draw.lift(FACE).ax.get_legend()
    assert alone is not None
    assert [text.get_text() for text in alone.get_texts()] == ["by chance"]
    several = draw.lift(people(group=True)).ax.get_legend()
    assert several is not None
    names = [text.get_text() for text in several.get_texts()]
    assert names == ["by chance", "everybody", "site = north", "site = south"]


@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "csv", "json"])
def test_the_same_numbers_make_the_same_file(tmp_path: Path, ending: str) -> None:
    for name in ("a", "b"):
        draw.gain(people()).save(tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_unknown_endings_and_strange_data_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="no kind of picture"):
        draw.gain(FACE).save(tmp_path / "gain.bmp")
    with pytest.raises(BadOption, match="list cannot be drawn"):
        draw.gain([1, 2])  # type: ignore[arg-type]

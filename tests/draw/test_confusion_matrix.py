"""Confusion matrices: counts, shares and rates of cells."""

from typing import Any, Literal

import numpy as np
import pytest

from baserate import BaserateError, Confusion, Costs, Counts, Curve, OptionError, confusion, decide, draw, infer, read
from tests.draw.drawings import make_tallies

COUNTS = Counts(tp=80, fp=30, fn=20, tn=270)


def cells_of(drawing: draw.Drawing, column: str = "count") -> list[float]:
    return [row[column] for row in drawing.parts["cells"].rows()]


def test_cells_and_rates_by_hand() -> None:
    made = draw.confusion_matrix(COUNTS)
    assert cells_of(made) == [80, 20, 30, 270]
    assert cells_of(made, "share") == pytest.approx([0.8, 0.2, 0.1, 0.9])
    rates = {row["measure"]: row for row in made.parts["rates"].rows()}
    assert {name: row["value"] for name, row in rates.items()} == pytest.approx(
        {"sensitivity": 80 / 100, "specificity": 270 / 300, "PPV": 80 / 110, "NPV": 270 / 290}
    )
    wilson = infer.estimate("sensitivity", COUNTS)
    assert (rates["sensitivity"]["low"], rates["sensitivity"]["high"]) == (wilson.low, wilson.high)
    assert [text.get_text() for text in made.ax.texts] == ["80\n80.0%", "20\n20.0%", "30\n10.0%", "270\n90.0%"]
    assert made.ax.get_yticklabels()[1].get_text().startswith("False\nspecificity 90.0%\n(86.")


@pytest.mark.parametrize(
    ("normalize", "wanted"), [("pred", [8 / 11, 20 / 290, 3 / 11, 270 / 290]), ("all", [0.2, 0.05, 0.075, 0.675])]
)
def test_shares_of_other_wholes(normalize: Literal["pred", "all"], wanted: list[float]) -> None:
    assert cells_of(draw.confusion_matrix(COUNTS, normalize=normalize), "share") == pytest.approx(wanted)


def test_counts_alone() -> None:
    assert [text.get_text() for text in draw.confusion_matrix(COUNTS, normalize=None).ax.texts] == [
        "80",
        "20",
        "30",
        "270",
    ]


def test_prevalence_reweights_the_classes() -> None:
    cells = cells_of(draw.confusion_matrix(COUNTS, prevalence="2%"))
    assert cells == pytest.approx([400 * 0.02 * 0.8, 400 * 0.02 * 0.2, 400 * 0.98 * 0.1, 400 * 0.98 * 0.9])
    several = draw.confusion_matrix(
        ["a", "a", "b", "c"], ["a", "b", "b", "c"], prevalence={"a": 0.5, "b": 0.25, "c": 0.25}
    )
    assert cells_of(several)[:2] == pytest.approx([1.0, 1.0])


def test_thresholds_and_policies_decide() -> None:
    tallies = make_tallies(group=True)
    policy = decide.youden(Curve(tallies.pooled("risk0")))
    by_policy = draw.confusion_matrix(tallies, policy=policy)
    assert policy.threshold is not None
    assert cells_of(by_policy) == cells_of(draw.confusion_matrix(tallies, threshold=policy.threshold))
    assert cells_of(by_policy) != cells_of(draw.confusion_matrix(tallies))
    bands = decide.abstain(Curve(tallies.pooled("risk0")), costs=Costs(fp=1, fn=1), refer=0.2)
    assert sum(cells_of(draw.confusion_matrix(tallies, policy=bands))) < 400  # referred rows are left out


def test_labels_and_scores_in_any_form() -> None:
    y, p = [1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]
    of_scores = cells_of(draw.confusion_matrix(y, p))
    assert of_scores == [1, 1, 1, 1]
    labels = draw.confusion_matrix(y, [1, 1, 1, 0])
    assert [row["true"] for row in labels.parts["cells"].rows()] == ["0", "0", "1", "1"]
    assert cells_of(labels) == [1, 1, 0, 2]
    assert cells_of(draw.confusion_matrix(confusion(y, [1, 1, 1, 0]))) == [1, 1, 0, 2]
    table = {"sick": y, "says": [1, 1, 1, 0], "risk": p}
    assert cells_of(draw.confusion_matrix(read.tallies(table, truth="sick", predicted="says"))) == [2, 0, 1, 1]
    assert cells_of(draw.confusion_matrix(table, truth="sick", predicted="says")) == [1, 1, 0, 2]
    matrix = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]])
    assert cells_of(draw.confusion_matrix([0, 1, 2], matrix)) == [1, 0, 0, 0, 0, 1, 0, 1, 0]


def test_classes_without_rows() -> None:
    made = draw.confusion_matrix(Confusion.of_matrix([[3, 0], [0, 0]], ["a", "b"], truth="rows"))
    assert [text.get_text() for text in made.ax.texts] == ["3\n100.0%", "0\n0.0%", "0\n–", "0\n–"]
    assert made.ax.get_xticklabels()[1].get_text() == "b\nundefined"


def test_wrong_options_are_refused() -> None:
    with pytest.raises(OptionError, match="normalize is 'rows'; expected 'true', 'pred', 'all' or None"):
        draw.confusion_matrix(COUNTS, normalize="rows")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="threshold"):
        draw.confusion_matrix(["a", "b"], ["a", "b"], threshold=0.5)
    with pytest.raises(OptionError, match="not probabilities"):
        draw.confusion_matrix([1, 0, 1], [3, 2, 1.5])
    with pytest.raises(OptionError, match="several models"):
        draw.confusion_matrix(make_tallies(models=2))
    with pytest.raises(OptionError, match=r"prevalence is 5\.0; .* For 5 percent give 0.05 or '5%'"):
        draw.confusion_matrix([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=5.0)


@pytest.mark.parametrize("score", [[object()] * 4, [{}] * 4, [None, 0.5, 0.2, 0.1]])
def test_bad_scores_are_refused(score: list[Any]) -> None:
    with pytest.raises(BaserateError):
        draw.confusion_matrix([1, 0, 1, 0], score)

"""Theoretical populations, and samples of them."""

import numpy as np
import pytest

from baserate import OptionError, Population, Tallies, Tally, draw, measure, population, tally
from baserate.draw._population import PopulationCurve
from tests.draw.drawings import check_repainting, lines_of

LINEAR = population.linear(prevalence=0.3)
SAMPLE = tally(*LINEAR.draw(500, 1))


@pytest.mark.parametrize("what", ["densities", "roc", "pr"])
def test_drawing_stores_its_numbers_and_repaints_them(what: PopulationCurve) -> None:
    check_repainting(draw.population(LINEAR, what=what))
    check_repainting(draw.population(LINEAR, what=what, sample=SAMPLE))


def test_densities_do_not_depend_on_the_prevalence() -> None:
    negatives, positives = lines_of(draw.population(LINEAR).ax)
    assert np.allclose(negatives[:, 1], 2 - 2 * negatives[:, 0])
    assert np.allclose(positives[:, 1], 2 * positives[:, 0])


@pytest.mark.parametrize("result", [LINEAR, population.binormal(means=(0, 2)), population.logit_normal()])
def test_bars_of_a_sample_have_an_area_of_1_in_each_class(result: Population) -> None:
    sample = tally(*result.draw(300, 2))
    bars = draw.population(result, sample=sample).parts["sample"].rows()
    for name in ("negatives", "positives"):
        assert np.isclose(
            sum((row["upper"] - row["lower"]) * row["density"] for row in bars if row["class"] == name), 1
        )


def test_large_samples_are_close_to_the_theory() -> None:
    result = population.binormal()
    parts = draw.population(result, sample=tally(*result.draw(200_000, 3))).parts
    for row in parts["sample"].rows():
        middle = (row["lower"] + row["upper"]) / 2
        exact = (result.positive if row["class"] == "positives" else result.negative).pdf(middle)  # type: ignore[attr-defined]
        assert abs(row["density"] - exact) < 0.02


def test_curves_are_those_of_theory_and_of_the_sample() -> None:
    chance, theory, observed = lines_of(draw.population(LINEAR, what="roc", sample=SAMPLE).ax)
    assert chance.tolist() == [[0, 0], [1, 1]]
    # TPR is 1 − t² and FPR (1 − t)².
    assert np.allclose(theory[:, 1], 1 - (1 - np.sqrt(theory[:, 0])) ** 2)
    expected = measure.curves(Tallies({"score": {(): SAMPLE}}), "roc").columns
    assert np.array_equal(observed.T, [expected["fpr"], expected["sensitivity"]])
    level = lines_of(draw.population(LINEAR, what="pr").ax)[0]
    assert level[:, 1].tolist() == [0.3, 0.3]


def test_discrete_scores_have_masses() -> None:
    perfect = population.retrieval("perfect")
    drawing = draw.population(perfect, sample=tally(*perfect.draw(20, 1)))
    assert drawing.ax.get_ylabel().endswith("mass")
    assert [line.tolist() for line in lines_of(drawing.ax)[:2]] == [[[0, 1]], [[1, 1]]]


def test_infinite_densities_are_gaps() -> None:
    drawing = draw.population(population.beta(negative=(0.5, 2), positive=(2, 0.5)))
    negatives, _ = lines_of(drawing.ax)
    assert np.isnan(negatives[0, 1])
    assert np.isfinite(negatives[1:, 1]).all()


def test_invalid_options_raise() -> None:
    with pytest.raises(OptionError, match="expected one of densities, roc, pr"):
        draw.population(LINEAR, what="det")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"the sample has no rows\. Pass"):
        draw.population(LINEAR, sample=Tally.from_counts(score=[0.5], rows=[[0], [0]]))

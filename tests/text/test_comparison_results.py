"""Printed comparisons of models: columns named by the models, differences that show on which side of 0 they are."""

import numpy as np

import baserate

RNG = np.random.default_rng(3)
TRUTH = (RNG.random(400) < 0.3).astype(int)
LR, RF = (np.clip(RNG.normal(0.3 + 0.4 * TRUTH, spread), 0.01, 0.99) for spread in (0.2, 0.3))


def test_columns_are_named_by_two_models() -> None:
    table = baserate.compare(TRUTH, {"lr": LR, "rf": RF}, threshold={"lr": 0.5, "rf": 0.4}, measures=["ppv", "npv"])
    headline, heading, *rows = [line for line in table.text(200).splitlines() if line]
    assert headline.endswith("threshold of lr 0.5 · threshold of rf 0.4 · 2 rows of results")
    assert heading.split() == ["measure", "lr", "rf", "difference", "(95%", "CI)", "p", "p_adjusted"]
    assert rows[0].split()[:3] == ["precision", f"{table['value'][0]:.4f}", f"{table['other_value'][0]:.4f}"]
    assert f"{table['difference'][0]:.3f} ({table['low'][0]:.3f} to".replace("-", "−") in rows[0]
    assert "threshold of lr" in table._repr_html_()


def test_three_models_have_their_names_in_rows() -> None:
    table = baserate.compare(TRUTH, {"lr": LR, "rf": RF, "nb": LR**2}, measures=["auc"])
    heading = next(line for line in str(table).splitlines() if line.startswith(("measure", "model")))
    assert {"model", "other", "value", "other_value"} <= {*heading.split()}


def test_settings_are_shown_where_they_are_not_the_default() -> None:
    plain = baserate.compare(TRUTH, {"lr": LR, "rf": RF}, measures=["auc", "brier"])
    assert "alternative" not in str(plain)
    assert "margin" not in str(plain)
    assert "statistic" not in str(plain)
    tested = baserate.compare(TRUTH, {"lr": LR, "rf": RF}, measures=["auc"], alternative="better", margin=0.05)
    assert "alternative" in str(tested)
    assert "0.05" in str(tested)


def test_titles_are_words_of_the_field() -> None:
    table = baserate.infer.calibration_summary(TRUTH, LR).text(200)
    assert "null reference (95% CI)" in table
    assert "floor" not in table


def test_a_policy_names_its_prevalence_as_a_percentage() -> None:
    policy = baserate.choose_threshold(TRUTH, LR, fp=1, fn=5, prevalence=0.05)
    assert "Chosen for a prevalence of 5\N{NO-BREAK SPACE}%." in str(policy)

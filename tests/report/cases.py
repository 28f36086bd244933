"""Reports made by hand: for every code some with the finding, and some that only just lack it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import baserate
from baserate import Costs, Report, decide

Make = Callable[[], Report]


def report_of_counts(*cells: int, **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """Return a report of a confusion matrix: tp, fn, fp and tn."""
    count = [many for many in cells if many]
    truth = [each for each, many in zip((1, 1, 0, 0), cells, strict=True) if many]
    score = [each for each, many in zip((0.8, 0.2, 0.8, 0.2), cells, strict=True) if many]
    return baserate.evaluate(truth, score, count=count, positive=1, **more)


def report_of_minimal_p(truth: list[int], **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """Return a report of twelve rows at a threshold of the least p-value, which may be of other rows."""
    score = [0.9 - 0.05 * place for place in range(12)]
    chosen = decide.min_p_value([1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0], score)
    return baserate.evaluate(truth, score, policy=chosen, **more)


def report_of_samples(*shares: float, **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """Return a report of separate samples of a hundred rows, with these shares of positives."""
    truth = {f"site {at}": [1] * round(100 * share) + [0] * round(100 - 100 * share) for at, share in enumerate(shares)}
    score = {name: [0.8 if each else 0.1 for each in every] for name, every in truth.items()}
    return baserate.evaluate(truth, score, **more)


def report_of_groups(*result: int, rows: int = 100, **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """Return a report of groups, half of them positive, with these numbers of true positives and an FPR of 0.1."""
    half = rows // 2
    truth, score, site = [], [], []
    for at, many in enumerate(result):
        truth += [1] * half + [0] * half
        score += [0.8] * many + [0.2] * (half - many) + [0.8] * (half // 10) + [0.2] * (half - half // 10)
        site += [f"s{at}"] * rows
    return baserate.evaluate(truth, score, group={"site": site}, **more)


def report_of_scores(shares: dict[float, tuple[int, int]], **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """Return a report of scores, each with its numbers of positives and negatives."""
    score = [each for each in shares for _ in range(2)]
    return baserate.evaluate(
        [1, 0] * len(shares), score, count=[many for both in shares.values() for many in both], **more
    )


def report_of_shares(*positives: int, rows: int = 200) -> Report:
    """Return a report of groups with one score and these numbers of positives."""
    truth = [at < many for many in positives for at in range(rows)]
    site = [f"s{at}" for at in range(len(positives)) for _ in range(rows)]
    return baserate.evaluate(truth, [0.3] * len(truth), group={"site": site})


def report_of_levels(rows: int, many: int) -> Report:
    """Return a report of rows evenly spread over levels of score; every third row is positive."""
    return baserate.evaluate(np.arange(rows) % 3 == 0, np.arange(rows) * many // rows / many)


def report_of_ordered_scores(rows: int, *, tied: int) -> Report:
    """Return a report of perfectly ordered scores, all distinct except for some tied positives."""
    score = np.linspace(0.1, 0.9, rows)
    score[rows - tied :] = 1
    return baserate.evaluate([0] * (rows - tied) + [1] * tied, score)


def report_of_ids(*names: str) -> Report:
    return baserate.evaluate([1, 0] * (len(names) // 2), np.linspace(0.9, 0.1, len(names)), id=[*names])


def report_of_labels(*said: int) -> Report:
    return baserate.evaluate([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1], predicted=[*said])


def fit_logistic(rows: int, *, seed: int = 7, **more: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401  (any keyword)
    """Return labels, their true probabilities, and those of a logistic regression fitted by Newton's method."""
    rng = np.random.default_rng(seed)
    features = np.column_stack([np.ones(rows), rng.normal(size=(rows, 3))])
    risk = 1 / (1 + np.exp(-features @ [-0.7, 1.0, -0.5, 0.3]))
    truth = rng.random(rows) < risk
    weight = np.asarray(more.get("weight", np.ones(rows)))
    beta = np.zeros(4)
    for _ in range(25):
        fit = 1 / (1 + np.exp(-features @ beta))
        hessian = features.T @ (features * (weight * fit * (1 - fit))[:, None])
        beta += np.linalg.solve(hessian, features.T @ (weight * (truth - fit)))
    return truth, risk, 1 / (1 + np.exp(-features @ beta))


def report_in_sample(rows: int, *, digits: int = 17, **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """Return a report of a logistic regression on the rows that it was fitted to."""
    truth, _, fitted = fit_logistic(rows, **more)
    return baserate.evaluate(truth, np.round(fitted, digits), **more)


def report_out_of_sample(rows: int) -> Report:
    """Return a report of the true probabilities, which were not fitted to the rows."""
    return baserate.evaluate(*fit_logistic(rows)[:2])


def report_of_tenths(rows: int) -> Report:
    """Return a report of scores that are the shares of positives in tenths of the rows."""
    truth, risk, _ = fit_logistic(rows)
    tenth = np.argsort(np.argsort(risk)) * 10 // rows
    return baserate.evaluate(truth, np.array([truth[tenth == at].mean() for at in range(10)])[tenth])


FIRES: dict[str, list[Make]] = {
    "BR001": [
        partial(report_of_counts, 5, 5, 7, 83),
        partial(report_of_counts, 6, 4, 3, 87),
        partial(report_of_counts, 90, 10, 5, 95, prevalence=0.02),
    ],
    "BR002": [
        partial(report_of_scores, {0.2: (40, 10), 0.8: (10, 40)}),
        partial(report_of_scores, {-2.0: (40, 10), 3.0: (10, 40)}, threshold=0.0),
    ],
    "BR003": [
        partial(report_of_counts, 6, 4, 4, 86),
        partial(report_of_counts, 90, 10, 2, 98, prevalence=0.05),
        partial(report_of_scores, {-1.0: (3, 2), 0.0: (2, 3)}, threshold=0.0),
    ],
    "BR004": [
        partial(report_of_scores, {0.9: (5, 0), 0.8: (0, 20), 0.7: (15, 0), 0.2: (0, 180)}, prevalence=0.02),
        partial(report_of_scores, {0.8: (10, 60), 0.2: (0, 130)}),
    ],
    "BR005": [
        partial(report_of_counts, 40, 10, 5, 45, prevalence=0.02),
        partial(report_of_counts, 40, 10, 5, 45, prevalence=0.9),
        partial(report_of_counts, 0, 50, 0, 50, prevalence=0.02),
    ],
    "BR006": [partial(report_of_samples, 0.5, 0.1), partial(report_of_samples, 0.3, 0.28, 0.1)],
    "BR007": [
        partial(report_of_scores, {0.5: (20, 180), 0.9: (100, 100)}),
        partial(report_of_scores, {0.01: (60, 140), 0.99: (140, 60)}),
        partial(report_of_scores, {0.3: (0, 200), 0.4: (0, 10)}),
    ],
    "BR008": [
        partial(report_of_counts, 40, 10, 5, 45, rule="youden"),
        partial(report_of_counts, 40, 10, 5, 45, costs=Costs(fp=1, fn=5)),
        lambda: report_of_counts(40, 10, 5, 45, policy=report_of_counts(40, 10, 5, 45, rule="closest").policy),
    ],
    "BR009": [
        partial(report_of_counts, 40, 10, 5, 45, threshold=np.inf),
        partial(report_of_counts, 40, 10, 5, 45, threshold=-np.inf),
        partial(report_of_counts, 1, 9, 0, 990),
        partial(baserate.evaluate, [1, 0, 1, 0], predicted=[1, 1, 1, 1]),
    ],
    "BR010": [
        partial(report_of_scores, {0.9: (12, 2), 0.6: (8, 38), 0.1: (0, 40)}),
        partial(report_of_counts, 10, 10, 20, 60),
        partial(report_of_counts, 90, 10, 10, 90, prevalence=0.01),
    ],
    "BR011": [partial(report_of_groups, 45, 20), partial(report_of_groups, 45, 40, 20)],
    "BR012": [partial(report_of_groups, 25, 24, rows=58), partial(report_of_groups, 25, 25)],
    "BR013": [
        partial(report_of_levels, 400, 40),
        partial(report_of_ordered_scores, 100, tied=10),
        partial(report_of_scores, {at / 12: (10, 0) if at > 6 else (0, 10) for at in range(12)}),
    ],
    "BR014": [partial(report_of_labels, 1, 1, 0, 0), partial(report_of_labels, 0, 1, 0, 1)],
    "BR015": [partial(report_of_counts, 40, 11, 5, 44), partial(report_of_samples, 0.2, 0.8)],
    "BR016": [partial(baserate.evaluate, [1, 0, None, 0], [0.9, 0.2, None, 0.1], missing="drop")],
    "BR017": [partial(report_of_ids, "a", "b", "a", "c"), partial(report_of_ids, "a", "a", "a", "c")],
    "BR018": [
        partial(report_in_sample, 300),
        partial(report_in_sample, 300, digits=4),
        partial(report_in_sample, 300, weight=[0.5, 1.0, 3.0] * 100),
        partial(report_of_tenths, 500),
        partial(report_of_scores, {0.1: (4, 36), 0.3: (12, 28), 0.5: (20, 20), 0.7: (28, 12), 0.9: (36, 4)}),
    ],
    "BR019": [
        partial(report_of_minimal_p, [1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0]),
        partial(report_of_minimal_p, [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0]),
    ],
    "BR022": [partial(report_of_shares, 40, 80), partial(report_of_shares, 140, 60, 100)],
}
NEAR_MISSES: dict[str, list[Make]] = {
    "BR001": [partial(report_of_counts, 70, 30, 10, 890), partial(report_of_counts, 90, 10, 5, 95)],
    "BR002": [
        partial(report_of_scores, {0.2: (4, 1), 0.8: (1, 4)}),
        partial(report_of_scores, {0.2: (10, 40), 0.8: (40, 10)}),
    ],
    "BR003": [partial(report_of_counts, 90, 10, 10, 90), partial(report_of_counts, 900, 100, 20, 980, prevalence=0.05)],
    "BR004": [
        partial(report_of_scores, {0.9: (5, 0), 0.8: (0, 20), 0.7: (15, 0), 0.2: (0, 180)}, prevalence=0.11),
        partial(report_of_scores, {0.9: (9, 1), 0.7: (11, 9), 0.2: (0, 180)}),
        partial(report_of_scores, {0.8: (14, 60), 0.2: (6, 130)}),
    ],
    "BR005": [
        partial(report_of_counts, 40, 10, 5, 45, prevalence=0.45),
        partial(report_of_counts, 40000, 10000, 5000, 45000, prevalence=0.48),
        partial(report_of_counts, 40, 10, 5, 45),
    ],
    "BR006": [
        partial(report_of_samples, 0.3, 0.28),
        partial(report_of_samples, 0.5, 0.1, prevalence=0.1),
        partial(report_of_counts, 40, 10, 5, 45),
    ],
    "BR007": [
        partial(report_of_scores, {0.1: (20, 180), 0.5: (100, 100)}),
        partial(report_of_scores, {0.1: (25, 175), 0.5: (100, 100)}),
        partial(report_of_scores, {0.1: (103000, 897000), 0.5: (500000, 500000)}),
        partial(report_of_scores, {-1.0: (20, 180), 0.9: (100, 100)}),
    ],
    "BR008": [
        partial(report_of_counts, 40, 10, 5, 45, threshold=0.8),
        lambda: report_of_counts(40, 10, 5, 45, policy=report_of_counts(41, 9, 5, 45, rule="closest").policy),
    ],
    "BR009": [partial(report_of_counts, 2, 8, 0, 990), partial(report_of_counts, 9, 1, 989, 1, threshold=0.1 + 0.2)],
    "BR010": [
        partial(report_of_counts, 20, 10, 20, 60),
        partial(report_of_counts, 0, 10, 0, 90),
        partial(report_of_labels, 1, 0, 0, 0),
    ],
    "BR011": [partial(report_of_groups, 45, 42), partial(report_of_counts, 40, 10, 5, 45)],
    "BR012": [partial(report_of_groups, 90, 90, rows=200), partial(report_of_counts, 4, 1, 1, 4)],
    "BR013": [
        partial(report_of_levels, 400, 60),
        partial(report_of_ordered_scores, 100, tied=9),
        partial(report_of_ordered_scores, 4, tied=1),
        partial(report_of_scores, {at / 12: (9, 0) if at > 6 else (0, 9) for at in range(12)}),
        partial(baserate.evaluate, [1, 0] * 9, predicted=[1, 0] * 9),
    ],
    "BR014": [partial(report_of_labels, 1, 0, 0, 0), partial(report_of_counts, 40, 10, 5, 45)],
    "BR015": [partial(report_of_counts, 40, 10, 5, 45), partial(report_of_samples, 0.2, 0.5)],
    "BR016": [partial(baserate.evaluate, [1, 0, 1, 0], [0.9, 0.2, 0.3, 0.1], missing="drop")],
    "BR017": [partial(report_of_ids, "a", "b", "d", "c"), partial(report_of_counts, 40, 10, 5, 45)],
    "BR018": [
        partial(report_out_of_sample, 300),
        partial(report_in_sample, 16),  # too few distinct scores
        partial(report_of_scores, {0.1: (4, 36), 0.3: (12, 28), 0.5: (20, 20), 0.7: (28, 12), 0.9: (35, 5)}),
        partial(report_of_scores, {0.1: (20, 180), 0.5: (100, 100)}),  # two counts may match by chance
        partial(baserate.evaluate, [1, 0] * 50, [1.0, 0.0] * 50),  # a perfect score is no coincidence
        partial(baserate.evaluate, [1, 0, 1, 0], predicted=[1, 1, 1, 1]),
    ],
    "BR019": [
        partial(report_of_counts, 40, 10, 5, 45, rule="youden"),
        lambda: report_of_counts(40, 10, 5, 45, policy=report_of_counts(40, 10, 5, 45, rule="closest").policy),
    ],
    "BR022": [
        partial(report_of_shares, 60, 60),
        partial(report_of_shares, 100, 100),  # a shift explains it
        partial(report_of_shares, 52, 68),
        partial(report_of_counts, 40, 10, 5, 45),
    ],
}


def is_first(case: tuple[str, Make]) -> bool:
    """Return whether a case is the first of its code."""
    code, make = case
    return make is FIRES[code][0]


def list_cases(makes: dict[str, list[Make]]) -> list[tuple[str, Make]]:
    """List every code with each of its reports."""
    return [(code, make) for code, every in makes.items() for make in every]

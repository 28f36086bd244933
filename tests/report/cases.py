"""Rows made by hand: for every code some that it is found in, and some just beside them in which it is not."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import baserate
from baserate import Costs, Report

Make = Callable[[], Report]


def table(*cells: int, **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """A report of so many tp, fn, fp, tn, with a count for each."""
    count = [many for many in cells if many]
    truth = [each for each, many in zip((1, 1, 0, 0), cells, strict=True) if many]
    score = [each for each, many in zip((0.8, 0.2, 0.8, 0.2), cells, strict=True) if many]
    return baserate.evaluate(truth, score, count=count, positive=1, **more)


def apart(*shares: float, **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """Samples of a hundred rows each, with these shares of positives."""
    truth = {f"site {at}": [1] * round(100 * share) + [0] * round(100 - 100 * share) for at, share in enumerate(shares)}
    score = {name: [0.8 if each else 0.1 for each in every] for name, every in truth.items()}
    return baserate.evaluate(truth, score, **more)


def groups(*result: int, rows: int = 100, **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """Groups of so many rows, a half of them positive, of which so many are found; a tenth of the others is flagged."""
    half = rows // 2
    truth, score, site = [], [], []
    for at, many in enumerate(result):
        truth += [1] * half + [0] * half
        score += [0.8] * many + [0.2] * (half - many) + [0.8] * (half // 10) + [0.2] * (half - half // 10)
        site += [f"s{at}"] * rows
    return baserate.evaluate(truth, score, group={"site": site}, **more)


def risks(shares: dict[float, tuple[int, int]], **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """Rows by their score: so many positive, so many negative."""
    score = [each for each in shares for _ in range(2)]
    return baserate.evaluate(
        [1, 0] * len(shares), score, count=[many for both in shares.values() for many in both], **more
    )


def levels(rows: int, many: int) -> Report:
    """Rows evenly on so many levels of score; every third row is positive."""
    return baserate.evaluate(np.arange(rows) % 3 == 0, np.arange(rows) * many // rows / many)


def ordered(rows: int, *, tied: int) -> Report:
    """Scores that order all pairs, and are all different but for those of so many positives, which share one."""
    score = np.linspace(0.1, 0.9, rows)
    score[rows - tied :] = 1
    return baserate.evaluate([0] * (rows - tied) + [1] * tied, score)


def ids(*names: str) -> Report:
    return baserate.evaluate([1, 0] * (len(names) // 2), np.linspace(0.9, 0.1, len(names)), id=[*names])


def labels(*said: int) -> Report:
    return baserate.evaluate([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1], predicted=[*said])


def logistic(rows: int, *, seed: int = 7, **more: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401  (any keyword)
    """Labels, their true probabilities, and those of a logistic regression fitted to them by Newton's method."""
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


def in_sample(rows: int, *, digits: int = 17, **more: Any) -> Report:  # noqa: ANN401  (any keyword of evaluate)
    """A logistic regression, judged by the rows that it was fitted to."""
    truth, _, fitted = logistic(rows, **more)
    return baserate.evaluate(truth, np.round(fitted, digits), **more)


def out_of_sample(rows: int) -> Report:
    """The same, judged by rows that it has not seen."""
    return baserate.evaluate(*logistic(rows)[:2])


def in_tenths(rows: int) -> Report:
    """Scores that are the shares of positives in tenths of the rows."""
    truth, risk, _ = logistic(rows)
    tenth = np.argsort(np.argsort(risk)) * 10 // rows
    return baserate.evaluate(truth, np.array([truth[tenth == at].mean() for at in range(10)])[tenth])


FIRES: dict[str, list[Make]] = {
    "BR001": [partial(table, 5, 5, 7, 83), partial(table, 6, 4, 3, 87), partial(table, 90, 10, 5, 95, prevalence=0.02)],
    "BR002": [
        partial(risks, {0.2: (40, 10), 0.8: (10, 40)}),
        partial(risks, {-2.0: (40, 10), 3.0: (10, 40)}, threshold=0.0),
    ],
    "BR003": [
        partial(table, 6, 4, 4, 86),
        partial(table, 90, 10, 2, 98, prevalence=0.05),
        partial(risks, {-1.0: (3, 2), 0.0: (2, 3)}, threshold=0.0),
    ],
    "BR004": [
        partial(risks, {0.9: (5, 0), 0.8: (0, 20), 0.7: (15, 0), 0.2: (0, 180)}, prevalence=0.02),
        partial(risks, {0.8: (10, 60), 0.2: (0, 130)}),
    ],
    "BR005": [
        partial(table, 40, 10, 5, 45, prevalence=0.02),
        partial(table, 40, 10, 5, 45, prevalence=0.9),
        partial(table, 0, 50, 0, 50, prevalence=0.02),
    ],
    "BR006": [partial(apart, 0.5, 0.1), partial(apart, 0.3, 0.28, 0.1)],
    "BR007": [
        partial(risks, {0.5: (20, 180), 0.9: (100, 100)}),
        partial(risks, {0.01: (60, 140), 0.99: (140, 60)}),
        partial(risks, {0.3: (0, 200), 0.4: (0, 10)}),
    ],
    "BR008": [
        partial(table, 40, 10, 5, 45, rule="youden"),
        partial(table, 40, 10, 5, 45, costs=Costs(fp=1, fn=5)),
        lambda: table(40, 10, 5, 45, policy=table(40, 10, 5, 45, rule="closest").policy),
    ],
    "BR009": [
        partial(table, 40, 10, 5, 45, threshold=np.inf),
        partial(table, 40, 10, 5, 45, threshold=-np.inf),
        partial(table, 1, 9, 0, 990),
        partial(baserate.evaluate, [1, 0, 1, 0], predicted=[1, 1, 1, 1]),
    ],
    "BR010": [
        partial(risks, {0.9: (12, 2), 0.6: (8, 38), 0.1: (0, 40)}),
        partial(table, 10, 10, 20, 60),
        partial(table, 90, 10, 10, 90, prevalence=0.01),
    ],
    "BR011": [partial(groups, 45, 20), partial(groups, 45, 40, 20)],
    "BR012": [partial(groups, 25, 24, rows=58), partial(groups, 25, 25)],
    "BR013": [
        partial(levels, 400, 40),
        partial(ordered, 100, tied=10),
        partial(risks, {at / 12: (10, 0) if at > 6 else (0, 10) for at in range(12)}),
    ],
    "BR014": [partial(labels, 1, 1, 0, 0), partial(labels, 0, 1, 0, 1)],
    "BR015": [partial(table, 40, 11, 5, 44), partial(apart, 0.2, 0.8)],
    "BR016": [partial(baserate.evaluate, [1, 0, None, 0], [0.9, 0.2, None, 0.1], missing="drop")],
    "BR017": [partial(ids, "a", "b", "a", "c"), partial(ids, "a", "a", "a", "c")],
    "BR018": [
        partial(in_sample, 300),
        partial(in_sample, 300, digits=4),
        partial(in_sample, 300, weight=[0.5, 1.0, 3.0] * 100),
        partial(in_tenths, 500),
        partial(risks, {0.1: (4, 36), 0.3: (12, 28), 0.5: (20, 20), 0.7: (28, 12), 0.9: (36, 4)}),
    ],
}
BESIDE: dict[str, list[Make]] = {
    "BR001": [partial(table, 70, 30, 10, 890), partial(table, 90, 10, 5, 95)],
    "BR002": [partial(risks, {0.2: (4, 1), 0.8: (1, 4)}), partial(risks, {0.2: (10, 40), 0.8: (40, 10)})],
    "BR003": [partial(table, 90, 10, 10, 90), partial(table, 900, 100, 20, 980, prevalence=0.05)],
    "BR004": [
        partial(risks, {0.9: (5, 0), 0.8: (0, 20), 0.7: (15, 0), 0.2: (0, 180)}, prevalence=0.11),
        partial(risks, {0.9: (9, 1), 0.7: (11, 9), 0.2: (0, 180)}),
        partial(risks, {0.8: (14, 60), 0.2: (6, 130)}),
    ],
    "BR005": [
        partial(table, 40, 10, 5, 45, prevalence=0.45),
        partial(table, 40000, 10000, 5000, 45000, prevalence=0.48),
        partial(table, 40, 10, 5, 45),
    ],
    "BR006": [partial(apart, 0.3, 0.28), partial(apart, 0.5, 0.1, prevalence=0.1), partial(table, 40, 10, 5, 45)],
    "BR007": [
        partial(risks, {0.1: (20, 180), 0.5: (100, 100)}),
        partial(risks, {0.1: (25, 175), 0.5: (100, 100)}),
        partial(risks, {0.1: (103000, 897000), 0.5: (500000, 500000)}),
        partial(risks, {-1.0: (20, 180), 0.9: (100, 100)}),
    ],
    "BR008": [
        partial(table, 40, 10, 5, 45, threshold=0.8),
        lambda: table(40, 10, 5, 45, policy=table(41, 9, 5, 45, rule="closest").policy),
    ],
    "BR009": [partial(table, 2, 8, 0, 990), partial(table, 9, 1, 989, 1, threshold=0.1 + 0.2)],
    "BR010": [partial(table, 20, 10, 20, 60), partial(table, 0, 10, 0, 90), partial(labels, 1, 0, 0, 0)],
    "BR011": [partial(groups, 45, 42), partial(table, 40, 10, 5, 45)],
    "BR012": [partial(groups, 90, 90, rows=200), partial(table, 4, 1, 1, 4)],
    "BR013": [
        partial(levels, 400, 60),
        partial(ordered, 100, tied=9),
        partial(ordered, 4, tied=1),
        partial(risks, {at / 12: (9, 0) if at > 6 else (0, 9) for at in range(12)}),
        partial(baserate.evaluate, [1, 0] * 9, predicted=[1, 0] * 9),
    ],
    "BR014": [partial(labels, 1, 0, 0, 0), partial(table, 40, 10, 5, 45)],
    "BR015": [partial(table, 40, 10, 5, 45), partial(apart, 0.2, 0.5)],
    "BR016": [partial(baserate.evaluate, [1, 0, 1, 0], [0.9, 0.2, 0.3, 0.1], missing="drop")],
    "BR017": [partial(ids, "a", "b", "d", "c"), partial(table, 40, 10, 5, 45)],
    "BR018": [
        partial(out_of_sample, 300),
        partial(in_sample, 16),  # too few distinct scores
        partial(risks, {0.1: (4, 36), 0.3: (12, 28), 0.5: (20, 20), 0.7: (28, 12), 0.9: (35, 5)}),
        partial(risks, {0.1: (20, 180), 0.5: (100, 100)}),  # two counts may match by chance
        partial(baserate.evaluate, [1, 0] * 50, [1.0, 0.0] * 50),  # a perfect score is no coincidence
        partial(baserate.evaluate, [1, 0, 1, 0], predicted=[1, 1, 1, 1]),
    ],
}


def is_first(case: tuple[str, Make]) -> bool:
    """Whether a report is the first of its code that fires."""
    code, make = case
    return make is FIRES[code][0]


def several(makes: dict[str, list[Make]]) -> list[tuple[str, Make]]:
    """Every code with each of its reports."""
    return [(code, make) for code, every in makes.items() for make in every]

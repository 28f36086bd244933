"""Quantification study: errors of prevalence estimators on samples of a labelled test set.

Samples follow a protocol of the quantification literature [@esuli2023]: prevalences on a grid (artificial), at random
(uniform) or those of the test set (natural). All estimators see the same samples, without their labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import product
from math import comb, isnan, nan, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats
from baserate._domains import POINTS, REPEATS, ROWS, Domain, ShareLike, check_domain, parse_share, wrong_option
from baserate._errors import EmptyDataError, FitError, OptionError
from baserate._formatting import count_of
from baserate._results import Results
from baserate._rows import MulticlassRows, MulticlassTarget, Target
from baserate._tally import Tally
from baserate.infer import normal_quantile, wilson_or_exact
from baserate.read import accepts_two
from baserate.shift._estimators import estimate_prevalence, method_options, resolve_method

Protocol = Literal["app", "upp", "npp"]
Methods = Sequence[str] | Mapping[str, Mapping[str, Any]] | None
Watch = Callable[[Callable[[], float | None]], AbstractContextManager[object]]
"""Context manager made from a function that returns the percentage done; shows progress while the study runs."""

PROTOCOLS: dict[str, str] = {
    "app": "artificial prevalence protocol: each prevalence of a grid equally often",
    "upp": "uniform prevalence protocol: random shares, uniform on the simplex",
    "npp": "natural prevalence protocol: random rows of the test set",
}
DEFAULT_STUDY_METHODS = ("binned", "mlls", "acc", "pacc", "dys", "kdey-hd", "ms")
DEFAULT_STUDY_CLASS_METHODS = ("gmm", "mlls", "acc", "pacc", "kdey-cs")
_MOST_SAMPLES = 10_000
_SAME_ROWS = "the test set is the validation data, so the errors are optimistic: use other rows."
_REPEATS = {"app": 10, "upp": 100, "npp": 100}
_SEED = Domain(0, 2**63 - 1, "a whole number of 0 or more", "0", whole=True)
_MEAN_METHOD = "mean over samples, normal"
_COVERAGE_METHOD = "Wilson, or Clopper–Pearson where there are few hits or misses"


class StudyDesign(NamedTuple):
    """Samples of a study: their protocol, number of rows and number, and the seed."""

    protocol: str
    size: int
    prevalences: int
    repeats: int
    level: float
    seed: int


@accepts_two("tally", also=(MulticlassRows,))
def quantification_study(  # noqa: PLR0913  (each is a dimension of the study)
    validation: Tally | MulticlassRows,
    test: Tally | MulticlassRows,
    *,
    methods: Methods = None,
    protocol: Protocol = "app",
    size: int = 500,
    prevalences: int = 21,
    repeats: int | None = None,
    level: ShareLike = 0.95,
    seed: int = 0,
    watch: Watch | None = None,
) -> Results:
    r"""Compare prevalence estimators on samples of a labelled test set.

    Errors are those of the quantification literature [@esuli2023]. With the shares p of a sample, estimates q and K
    classes, MAE is the mean of :math:`\frac1K\sum_k|q_k-p_k|`. RAE is the mean of
    :math:`\frac1K\sum_k|q_k-p_k|/p_k`, and KLD of :math:`\sum_kp_k\ln(p_k/q_k)`; for both, shares are smoothed to
    :math:`(p_k+ε)/(1+Kε)` with :math:`ε=1/(2\,\text{size})`. Beside them stand the bias, the coverage of the intervals
    and their mean width. A sample has its shares exactly, while an interval is for those of a population; coverage is
    therefore a little above that of samples whose shares are random.

    Parameters
    ----------
    validation
        Labelled scores that the estimators are fitted to: a `Tally`, `(truth, score)` or a table; or `MulticlassRows`.
    test
        Labelled scores to draw samples from, of the same kind. They must not be the rows of validation.
    methods
        Names of methods, or a mapping from names to their options. By default some of each kind.
    protocol
        "app" for a grid of prevalences, "upp" for random shares, "npp" for random rows of the test set.
    size
        Rows of each sample, drawn with replacement within each class.
    prevalences
        Number of equally spaced prevalences from 0 to 1 of "app"; of several classes, their combinations that add up
        to 1.
    repeats
        Samples of each prevalence of "app" (by default 10), or samples (by default 100).
    level
        Confidence level of the intervals whose coverage is counted, and of those of the errors.
    seed
        Random seed; each sample has its own generator.
    watch
        Context manager that shows progress, called with a function that returns the percentage done.

    Returns
    -------
    Results
        One row for each method, prevalence (None for all) and measure: `mae`, `rae`, `kld`, `bias` (of two classes),
        `coverage` and `width`, with the interval of the mean over samples.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import shift
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random((2, 2000)) < 0.4
    >>> old, new = 1 / (1 + np.exp(1.5 - 2 * truth - rng.normal(size=(2, 2000))))
    >>> results = shift.quantification_study((truth[0], old), (truth[1], new), methods=["acc", "ms"], repeats=2)
    >>> rows = [row for row in results.rows() if row["prevalence"] is None and row["measure"] == "mae"]
    >>> [(row["method"], round(row["value"], 2)) for row in rows]
    [('acc', 0.03), ('ms', 0.01)]
    """
    level = parse_share(level)
    several = isinstance(validation, MulticlassRows)
    if several is not isinstance(test, MulticlassRows):
        raise OptionError("validation and test have different kinds", remedy="give both with the same classes.")
    each = _REPEATS.get(protocol, 1) if repeats is None else repeats
    design = _check_design(StudyDesign(protocol, size, prevalences, each, level, seed))
    chosen = _check_methods(methods, many=several)
    source = _ClassSource.of(test, validation.labels) if several else _BinarySource(test)  # type: ignore[union-attr,arg-type]
    grid = _list_shares(design, source.width)
    study = _Study(source, validation, design, chosen)
    with nullcontext() if watch is None else watch(lambda: 100 * study.done / (len(grid) * len(chosen))):
        samples = [study.estimate_sample(place, shares) for place, shares in enumerate(grid)]
    rows = [row for name in chosen for row in study.summarize(name, samples)]
    data = {
        "protocol": design.protocol,
        **{name: getattr(design, name) for name in ("size", "repeats", "level", "seed")},
        "samples": len(grid),
        "methods": {name: dict(options) for name, options in chosen.items()},
        "notes": [*[_SAME_ROWS] * (test.digest == validation.digest), *study.notes()],
    }
    names = dict.fromkeys(name for row in rows for name in row)
    return Results({name: [row.get(name) for row in rows] for name in names}, data)


def _check_design(design: StudyDesign) -> StudyDesign:
    if design.protocol not in PROTOCOLS:
        raise wrong_option("protocol", design.protocol, f"one of {', '.join(map(repr, PROTOCOLS))}")
    check_domain("size", design.size, ROWS._replace(high=10**7, words="a whole number of rows from 1 to 10,000,000"))
    check_domain("prevalences", design.prevalences, POINTS)
    check_domain("repeats", design.repeats, REPEATS)
    check_domain("seed", design.seed, _SEED)
    return design


def _check_methods(methods: Methods, *, many: bool) -> dict[str, Mapping[str, Any]]:
    """Return the options of each method by the name that was given; raise for unknown methods and options."""
    if methods is None:
        methods = DEFAULT_STUDY_CLASS_METHODS if many else DEFAULT_STUDY_METHODS
    if isinstance(methods, str):
        methods = (methods,)
    chosen = dict(methods) if isinstance(methods, Mapping) else {name: {} for name in methods}
    if not chosen:
        raise OptionError("there is no method to study", remedy="name one, such as 'acc'.")
    for name in chosen:
        method_options(resolve_method(name), many=many)
    return chosen


def _list_shares(design: StudyDesign, width: int) -> list[Floats | None]:
    """List the shares of each sample; None for those of random rows."""
    if design.protocol == "npp":
        return [None] * design.repeats
    if design.protocol == "upp":
        rng = np.random.default_rng([design.seed, 0])
        return list(rng.dirichlet(np.ones(width), design.repeats))
    steps = design.prevalences - 1
    many = comb(steps + width - 1, width - 1) * design.repeats
    if many > _MOST_SAMPLES:
        raise OptionError(
            f"prevalences={design.prevalences} of {width} classes and repeats={design.repeats} make {many:,} samples; "
            f"expected at most {_MOST_SAMPLES:,}.",
            remedy="Give fewer of either, or the protocol 'upp'.",
        )
    grid = [each for each in product(range(steps + 1), repeat=width - 1) if sum(each) <= steps]
    points = [np.array([*each, steps - sum(each)]) / steps for each in grid]
    return [point for point in points for _ in range(design.repeats)]


@dataclass(frozen=True, slots=True)
class _BinarySource:
    """Test rows of two classes: positives first."""

    tally: Tally
    width: int = 2

    def __post_init__(self) -> None:
        if not (self.tally.positives and self.tally.negatives):
            raise FitError("the test set lacks a class", remedy="give rows of both classes.")

    def draw(self, rng: np.random.Generator, counts: Cells) -> Target:
        """Draw these numbers of rows of each class with replacement."""
        parts = (
            rng.choice(self.tally.score, many, p=mass / mass.sum())
            for many, mass in zip(counts, self.tally.mass, strict=True)
        )
        return Target(np.concatenate(list(parts)))

    @property
    def shares(self) -> Floats:
        """Shares of the classes."""
        return np.array([self.tally.prevalence, 1 - self.tally.prevalence])


@dataclass(frozen=True, slots=True)
class _ClassSource:
    """Test rows of several classes."""

    rows: MulticlassRows
    labels: tuple[object, ...]
    amount: Floats

    @staticmethod
    def of(rows: MulticlassRows, labels: tuple[object, ...]) -> _ClassSource:
        """Put the classes in the order of validation."""
        if set(rows.labels) != set(labels):
            raise OptionError("the test set has other classes than validation", remedy="give the same classes in both.")
        amount = np.ones(len(rows)) if rows.amount is None else np.asarray(rows.amount, dtype=np.float64)
        source = _ClassSource(rows, labels, amount)
        if not len(rows) or source.shares.min() <= 0:
            raise EmptyDataError("a class of the test set has no rows", remedy="give rows of every class.")
        return source

    @property
    def width(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @property
    def shares(self) -> Floats:
        """Shares of the classes, in the order of validation."""
        mass = np.bincount(self.rows.truth, weights=self.amount, minlength=self.width)
        order = [self.rows.labels.index(label) for label in self.labels]
        shares: Floats = mass[order] / mass.sum()
        return shares

    def draw(self, rng: np.random.Generator, counts: Cells) -> MulticlassTarget:
        """Draw these numbers of rows of each class with replacement."""
        chosen = []
        for label, many in zip(self.labels, counts, strict=True):
            members = np.flatnonzero(self.rows.truth == self.rows.labels.index(label))
            weight = self.amount[members]
            chosen.append(rng.choice(members, many, p=weight / weight.sum()))
        return MulticlassTarget(np.asarray(self.rows.score)[np.concatenate(chosen)], self.rows.labels)


class _SampleEstimate(NamedTuple):
    """Estimate of one sample by one method; NaN where it failed."""

    value: Floats
    covered: float
    width: float


class _Sample(NamedTuple):
    """Shares of a sample, the place on the grid, and the estimates of all methods."""

    shares: Floats
    place: float | None
    estimates: dict[str, _SampleEstimate]


@dataclass(slots=True)
class _Study:
    """Samples and methods of a study, and the number of finished estimates."""

    source: _BinarySource | _ClassSource
    validation: Tally | MulticlassRows
    design: StudyDesign
    methods: Mapping[str, Mapping[str, Any]]
    done: int = 0
    failures: dict[str, list[str]] = field(default_factory=dict)

    def estimate_sample(self, place: int, shares: Floats | None) -> _Sample:
        """Draw a sample, and estimate its shares by all methods."""
        rng = np.random.default_rng([self.design.seed, 1, place])
        expected = self.source.shares if shares is None else shares
        size = self.design.size
        counts = rng.multinomial(size, expected) if shares is None else _round_counts(rng, expected, size)
        target, true = self.source.draw(rng, counts), counts / size
        grid = float(expected[0]) if self.design.protocol == "app" and self.source.width == 2 else None
        return _Sample(true, grid, {name: self._estimate(name, target, true) for name in self.methods})

    def _estimate(self, name: str, target: Target | MulticlassTarget, true: Floats) -> _SampleEstimate:
        self.done += 1
        estimate: Callable[..., Any] = estimate_prevalence
        options: dict[str, Any] = {"method": name, "level": self.design.level, **self.methods[name]}
        try:
            result: Any = estimate(target, self.validation, **options)
        except FitError as error:
            self.failures.setdefault(name, []).append(str(error))
            return _SampleEstimate(np.full(len(true), nan), nan, nan)
        estimates = [result.estimate] if isinstance(target, Target) else result.estimates
        value = np.array([result.value, 1 - result.value]) if isinstance(target, Target) else result.value
        low, high = np.array([(each.low, each.high) for each in estimates]).T
        inside = (low <= true[: len(low)]) & (true[: len(low)] <= high)
        return _SampleEstimate(value, float(inside.mean()), float((high - low).mean()))

    def summarize(self, name: str, samples: Sequence[_Sample]) -> Iterator[dict[str, Any]]:
        """Yield a row for each measure, of all samples and of each prevalence of the grid."""
        places = dict.fromkeys(sample.place for sample in samples)
        for place in [None, *(each for each in places if each is not None)]:
            part = [sample for sample in samples if place is None or sample.place == place]
            yield from self._summarize_part(name, place, part)

    def _summarize_part(self, name: str, place: float | None, part: Sequence[_Sample]) -> Iterator[dict[str, Any]]:
        values = self._measure(name, part)
        failed = sum(isnan(each) for each in values["mae"])
        why = None if failed < len(part) else f"no estimate succeeded: {self.failures[name][0]}"
        for measure, column in values.items():
            usable = column[~np.isnan(column)]
            mean, low, high = self._bound(measure, usable)
            yield {
                "measure": measure,
                "method": name,
                "model": None,
                "group": None,
                "class": None,
                "threshold": None,
                "prevalence": place,
                "value": mean,
                "low": low,
                "high": high,
                "level": self.design.level,
                "how": _COVERAGE_METHOD if measure == "coverage" else _MEAN_METHOD,
                "why": why,
                "samples": len(part),
                "failed": failed,
            }

    def _measure(self, name: str, part: Sequence[_Sample]) -> dict[str, Floats]:
        """Return the errors of each sample."""
        true = np.array([sample.shares for sample in part])
        estimated = np.array([sample.estimates[name].value for sample in part])
        own = [sample.estimates[name] for sample in part]
        smooth = 1 / (2 * self.design.size)
        smooth_true, smooth_estimated = ((each + smooth) / (1 + true.shape[1] * smooth) for each in (true, estimated))
        errors = {
            "mae": np.abs(estimated - true).mean(axis=1),
            "rae": (np.abs(smooth_estimated - smooth_true) / smooth_true).mean(axis=1),
            "kld": (smooth_true * np.log(smooth_true / smooth_estimated)).sum(axis=1),
            "bias": estimated[:, 0] - true[:, 0],
            "coverage": np.array([each.covered for each in own]),
            "width": np.array([each.width for each in own]),
        }
        if isinstance(self.source, _ClassSource):
            del errors["bias"]
        return errors

    def _bound(self, measure: str, values: Floats) -> tuple[float, float, float]:
        """Return the mean over samples with its interval."""
        if not len(values):
            return nan, nan, nan
        mean, z = float(values.mean()), normal_quantile(self.design.level)
        if measure == "coverage":
            low, high = wilson_or_exact(values.sum(), len(values) - values.sum(), self.design.level)
            return mean, min(float(low), mean), max(float(high), mean)
        if len(values) < 2:
            return mean, nan, nan
        half = z * float(values.std(ddof=1)) / sqrt(len(values))
        return mean, mean - half if measure == "bias" else max(mean - half, 0.0), mean + half

    def notes(self) -> list[str]:
        """Note which estimates failed."""
        return [f"{name} failed in {count_of(len(whys), 'sample')}: {whys[0]}" for name, whys in self.failures.items()]


def _round_counts(rng: np.random.Generator, shares: Floats, size: int) -> Any:  # noqa: ANN401  (whole numbers)
    """Round the numbers of rows of each class; rows that rounding leaves go to classes at random."""
    exact = shares * size
    counts = np.floor(exact + 1e-9).astype(np.int64)
    rest = exact - counts
    if missing := size - int(counts.sum()):
        counts[rng.choice(len(shares), missing, replace=False, p=np.maximum(rest, 0) / np.maximum(rest, 0).sum())] += 1
    return counts

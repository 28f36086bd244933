"""Class weights: γ, the ratio of prevalence odds, and `reweigh`, which gives the classes other shares.

Every change of prevalence is one number γ: weights of negatives are multiplied by γ, odds of a posterior divided by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from numbers import Real
from typing import Any, TypeGuard, TypeVar, Unpack, overload

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, make_read_only
from baserate._confusion import Confusion, Confusions
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import (
    FACTOR,
    PREVALENCE,
    ShareLike,
    check_domain,
    parse_share,
    parse_shares,
    unused_option,
    wrong_option,
)
from baserate._errors import EmptyDataError, NotBinaryError, OptionError, UnknownLabelError, keyword
from baserate._policy import spellings
from baserate._results import Results
from baserate._rows import Rows
from baserate._tally import Group, Tallies, Tally, as_group
from baserate.calibration.multiclass import check_shares
from baserate.read import PredictionOptions, Scores, TableSource, accepts_predictions, accepts_words

ClassCounts = Sequence[float]
"""Numbers of positives and negatives."""
_SAMPLE_PREVALENCE = PREVALENCE._replace(low=5e-324, high=1 - 2**-53)
"""Domain of the prevalence of a sample: weights may bring it nearer to 0 or 1 than a stated one."""


@accepts_words
def gamma(*, sample_prevalence: ShareLike, prevalence: ShareLike) -> float:
    r"""Compute γ of two prevalences, :math:`\frac{(1-π')/π'}{(1-π)/π}`.

    Parameters
    ----------
    sample_prevalence : float
        Prevalence π of the sample.
    prevalence : float
        Deployment prevalence π'.

    Returns
    -------
    float
        How many times as frequent negatives are per positive in deployment as in the sample.

    Examples
    --------
    >>> gamma(sample_prevalence=0.5, prevalence=0.1)
    9.0
    """
    sample_prevalence, prevalence = parse_share(sample_prevalence), parse_share(prevalence)
    check_domain("sample_prevalence", sample_prevalence, _SAMPLE_PREVALENCE)
    check_prevalence("prevalence", prevalence)
    return ((1 - prevalence) * sample_prevalence) / (prevalence * (1 - sample_prevalence))


def gamma_of_sampling(*, under: float = 1.0, over: float = 1.0) -> float:
    """Compute γ of a sampling design, β/α: negatives under-sampled by β = N₀/N, positives over-sampled by 1/α = P/P₀.

    P₀ ≤ P and N₀ ≥ N are the original numbers of positives and negatives. In Dal Pozzolo's papers β is the share of
    negatives that remain, one over the β here [@dalpozzolo2015].

    Parameters
    ----------
    under : float, default 1
        β: original negatives per negative of the sample, 1 or more.
    over : float, default 1
        α: original positives per positive of the sample, above 0 and at most 1.

    Returns
    -------
    float
        γ from the sample to the original population.

    Raises
    ------
    OptionError
        If `under` or `over` is out of range, as when the inverse is given.

    Examples
    --------
    >>> gamma_of_sampling(under=10)  # every tenth negative was kept
    10.0
    >>> gamma_of_sampling(under=10, over=0.25)  # and every positive was taken four times
    40.0
    """
    if not (_is_number(under) and 1 <= under < float("inf")):
        remedy = "If it is the share that was kept, give one over it."
        raise wrong_option("under", under, "1 or more original negatives per negative of the sample", remedy=remedy)
    if not (_is_number(over) and 0 < over <= 1):
        remedy = "If each was taken several times, give one over that."
        raise wrong_option("over", over, "original positives per positive of the sample, in (0, 1]", remedy=remedy)
    return float(under / over)


def gamma_of_counts(*, sample: ClassCounts, original: ClassCounts) -> float:
    r"""Compute γ of numbers of positives and negatives, in this order, :math:`\frac{N_0/P_0}{N/P}`.

    Parameters
    ----------
    sample : sequence of two floats
        Positives and negatives of the sample.
    original : sequence of two floats
        Positives and negatives of the original population.

    Returns
    -------
    float
        γ from the sample to the original population.

    Examples
    --------
    >>> gamma_of_counts(sample=(100, 100), original=(100, 9900))
    99.0
    """
    for name, counts in (("sample", sample), ("original", original)):
        if len(counts) != 2 or not all(_is_number(each) and 0 < each < float("inf") for each in counts):
            raise wrong_option(name, counts, "the numbers of positives and negatives, both above 0")
    return float((original[1] * sample[0]) / (original[0] * sample[1]))


def prevalence_of_gamma(gamma: float, *, sample_prevalence: ShareLike) -> float:
    r"""Compute the deployment prevalence that γ leads to, :math:`\frac{P}{P+γN}`.

    Parameters
    ----------
    gamma : float
        How many times as frequent negatives are per positive in deployment as in the sample.
    sample_prevalence : float
        Prevalence of the sample.

    Returns
    -------
    float
        Deployment prevalence.

    Examples
    --------
    >>> prevalence_of_gamma(9, sample_prevalence=0.5)
    0.1
    """
    sample_prevalence = parse_share(sample_prevalence)
    check_gamma(gamma)
    check_domain("sample_prevalence", sample_prevalence, _SAMPLE_PREVALENCE)
    return float(sample_prevalence / (sample_prevalence + gamma * (1 - sample_prevalence)))


def check_prevalence(name: str, value: object) -> None:
    """Raise unless a value is a prevalence of two classes, strictly between 0 and 1."""
    check_domain(name, value, PREVALENCE)


def check_gamma(value: object) -> None:
    """Raise unless a value is a positive, finite γ."""
    check_domain("gamma", value, FACTOR)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)  # a truth value is a number to Python


Data = TypeVar("Data", Tally, Curve, Tallies, Confusion, Confusions)
PrevalenceLike = ShareLike | Floats | Mapping[Any, ShareLike] | Sequence[float]
"""A prevalence, several of them, or the share of every class (by label or in order)."""


@overload
def reweigh(data: Data, *, prevalence: PrevalenceLike | None = None, gamma: float | None = None) -> Data: ...
@overload
def reweigh(data: Counts[Any], *, prevalence: ShareLike | None = None, gamma: float | None = None) -> Counts[Any]: ...
@overload
def reweigh(data: Counts[Any], *, prevalence: Floats, gamma: None = None) -> Counts[Floats]: ...
@overload
def reweigh(data: Counts[Any], *, prevalence: None = None, gamma: Floats) -> Counts[Floats]: ...
@overload
def reweigh(
    truth: npt.ArrayLike,
    score: Scores,
    /,
    *,
    prevalence: PrevalenceLike | None = None,
    gamma: float | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Tally | Tallies: ...
@overload
def reweigh(
    table: TableSource,
    /,
    *,
    prevalence: PrevalenceLike | None = None,
    gamma: float | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Tally | Tallies: ...
@accepts_predictions("any")
def reweigh(
    data: Any, *, prevalence: PrevalenceLike | None = None, gamma: Any = None, **predictions: Unpack[PredictionOptions]
) -> Any:
    """Reweight the classes to other shares; the total weight stays the same.

    Scores stay, and so does whatever is the same within a class: TPR, FPR, ROC curve, AUC, KS, likelihood ratios.
    Precision becomes :math:`TP/(TP+γFP)`, accuracy :math:`(TP+γTN)/(P+γN)`. That is right under label shift, where each
    class scores in deployment as in the sample.

    The result is marked as reweighted: the shares count as exact, and intervals contain chance within classes only. In
    `Tallies` and `Confusions`, `prevalence` is the overall prevalence. Each group gets the prevalence that the same γ
    leads to, since a group is as frequent among the positives, and among the negatives, as before.

    Parameters
    ----------
    data : Tally, Curve, Tallies, Counts, Confusion or Confusions
        What to reweight.
    prevalence : float, array, mapping or sequence, optional
        Deployment prevalence. An array makes many tables of one `Counts`. A `Confusion` needs the share of every class,
        by label or in order. For `Tallies`, a mapping gives groups their own prevalences: group sizes stay, and a group
        that is not in the mapping keeps its prevalence.
    gamma : float or array, optional
        How many times as frequent negatives are per positive in deployment as in the sample; instead of `prevalence`.

    Returns
    -------
    Same type as `data`
        A reweighted copy.

    Raises
    ------
    OptionError
        If both or neither of `prevalence` and `gamma` are given, or one is out of range.
    NotBinaryError
        If a class that needs a share has no rows.

    Examples
    --------
    >>> from baserate import Counts, measure
    >>> c = reweigh(Counts(tp=950, fn=50, fp=200, tn=800), gamma=10)
    >>> round(measure.accuracy(c), 10), round(measure.prevalence(c), 10), round(c.total)
    (0.8136363636, 0.0909090909, 2000)
    >>> test = Counts(tp=99, fn=1, fp=1, tn=99)
    >>> measure.precision(reweigh(test, prevalence=np.array([0.02, 0.06, 0.10]))).round(4).tolist()
    [0.6689, 0.8634, 0.9167]
    """
    if (prevalence is None) == (gamma is None):
        raise OptionError(
            f"both or neither of {keyword('prevalence')} and {keyword('gamma')} are given",
            remedy=f"give {keyword('prevalence')}, the share of positives or of each class, or {keyword('gamma')}.",
        )
    if isinstance(data, Curve):
        return Curve(reweigh(data.tally, prevalence=prevalence, gamma=gamma))
    make: Callable[[Any, Any, Any], Any] | None = _REWEIGHERS.get(type(data))
    if make is not None:
        return make(data, prevalence, gamma)
    raise OptionError(
        f"{type(data).__name__} cannot be reweighted",
        remedy="give a Tally, Curve, Tallies, Counts, Confusion or Confusions.",
    )


def evaluate_at_prevalence(
    evaluate: Callable[..., Any],
    data: Any,  # noqa: ANN401  (predictions of any type)
    *args: object,
    prevalence: Any,  # noqa: ANN401  (one number, or one for each group)
    **options: object,
) -> Any:  # noqa: ANN401  (what `evaluate` returns)
    """Evaluate data whose classes are reweighted to a stated prevalence; results also name that of the sample."""
    if isinstance(data, Rows):
        if data.cluster is not None:
            why = "intervals at a stated prevalence need independent rows. Leave out one of prevalence and cluster"
            raise unused_option("prevalence", prevalence, why)
        data = data.tallies()
    share = parse_shares(prevalence)
    value = evaluate(reweigh(data, prevalence=share), *args, **options)
    return describe_deployment(value, data, share) if isinstance(value, Results) else value


def describe_deployment(results: Results, sample: Tallies, prevalence: float | Mapping[Any, float]) -> Results:
    """Describe the rows as they were read, and the prevalence that results are adjusted to."""
    pooled = sample.pooled(next(iter(sample.models)))
    shares = {"prevalences": dict(prevalence)} if isinstance(prevalence, Mapping) else {"prevalence": prevalence}
    header = {"prevalence": pooled.prevalence, "weighted": pooled.weighted, "deployment": shares}
    return replace(results, data={**results.data, **header})


def _reweigh_tally(tally: Tally, to: object, gamma: object) -> Tally:
    return tally.scale_classes(*_tally_factors(tally, to, gamma))


def _tally_factors(tally: Tally, to: Any, gamma: Any) -> tuple[float, float]:  # noqa: ANN401  (checked here)
    """Return the factors of positives and negatives."""
    positives, negatives = tally.positives, tally.negatives
    _check_both_classes(positives, negatives)
    if to is None:
        check_gamma(gamma)
        # Both shares are computed directly: 1 − to would cancel digits where gamma is very large or small.
        to = positives / (positives + gamma * negatives)
        rest = gamma * negatives / (positives + gamma * negatives)
    else:
        check_prevalence("prevalence", to)
        rest = 1 - to
    return float(to * tally.total / positives), float(rest * tally.total / negatives)


def _reweigh_tallies(tallies: Tallies, to: object, gamma: object) -> Tallies:
    if isinstance(to, Mapping):
        return _reweigh_groups(tallies, to)
    models = {}
    for model, groups in tallies.models.items():
        # One γ for all groups, from the overall prevalence: a group stays as frequent within each class as it was.
        factors = _tally_factors(tallies.pooled(model), to, gamma)
        models[model] = {group: tally.scale_classes(*factors) for group, tally in groups.items()}
    return replace(tallies, models=models)


def _reweigh_groups(tallies: Tallies, to: Mapping[Any, float]) -> Tallies:
    """Reweight each named group to its own prevalence; all groups are marked, since all prevalences count as known."""
    shares = {_find_group(tallies, key): share for key, share in to.items()}
    models = {
        model: {
            group: _reweigh_tally(tally, shares[group], None) if group in shares else replace(tally, reweighed=True)
            for group, tally in groups.items()
        }
        for model, groups in tallies.models.items()
    }
    return replace(tallies, models=models)


def _find_group(tallies: Tallies, key: object) -> Group:
    """Return the group with this label, or with these labels; text may also spell labels as files and shells do."""
    group = as_group(key)
    if group in tallies.groups:
        return group
    names = {"/".join(labels): group for group in tallies.groups for labels in product(*map(spellings, group))}
    text = "/".join(map(str, group))
    if text not in names:
        groups = ", ".join(dict.fromkeys("/".join(map(str, each)) for each in tallies.groups if each))
        raise UnknownLabelError(
            f"a prevalence is stated for the group {text!r}, which is not in the data. "
            f"Groups are: {groups or 'none; name the column of groups'}."
        )
    return names[text]


def _reweigh_counts(counts: Counts[Any], to: object, gamma: object) -> Counts[Any]:
    return scale_counts(counts, *_counts_factors(counts, to, gamma))


def scale_counts(counts: Counts[Any], first: Floats | float, second: Floats | float) -> Counts[Any]:
    """Multiply positives and negatives by a factor each; the result counts as reweighted."""
    one = np.ones_like(first)
    # Numbers of rows do not change: they are broadcast to the shape of the factors only.
    squares, rows = _scale_cells(counts.squares, first**2, second**2), _scale_cells(counts.rows, one, one)
    return Counts(*_scale_cells(counts, first, second), moments=(Counts(*squares), Counts(*rows)), reweighed=True)


def reweigh_mass(counts: Counts[Any], *, prevalence: Floats) -> Counts[Floats]:
    """Reweight the mass alone, which is all that values need; intervals also need squared weights."""
    return Counts(*_scale_cells(counts, *_counts_factors(counts, prevalence, None)), reweighed=True)


def _counts_factors(counts: Counts[Any], to: object, gamma: object) -> tuple[Floats, Floats]:
    """Return the factors of positives and negatives, in each table."""
    positives, negatives = np.asarray(counts.positives), np.asarray(counts.negatives)
    _check_both_classes(positives, negatives)
    values = _check_numbers("gamma" if to is None else "prevalence", gamma if to is None else to)
    total = positives + negatives
    if to is None:
        whole = positives + values * negatives
        return total / whole, values * total / whole
    return values * total / positives, (1 - values) * total / negatives


def _scale_cells(counts: Counts[Any], first: Floats | float, second: Floats | float) -> tuple[Floats, ...]:
    cells = counts.tp * first, counts.fp * second, counts.fn * first, counts.tn * second
    return tuple(make_read_only(np.asarray(cell)) for cell in cells)


def _check_numbers(name: str, value: Any) -> Floats:  # noqa: ANN401  (checked here)
    """Check prevalences or γ, one or many."""
    # A single value gives an error with that value; an array one with the number of wrong values.
    if np.ndim(value) == 0:
        (check_gamma if name == "gamma" else partial(check_prevalence, "prevalence"))(value)
        return np.asarray(value, dtype=np.float64)
    values: Floats = np.asarray(value, dtype=np.float64)
    domain = FACTOR if name == "gamma" else PREVALENCE
    outside = ~((values >= domain.low) & (values <= domain.high))
    if outside.any():
        raise OptionError(
            f"{outside.sum()} of {outside.size} values of {name} are not {domain.words}", remedy="leave them out."
        )
    return values


def _reweigh_confusion(table: Confusion, to: object, gamma: object) -> Confusion:
    return _scale_confusion(table, _class_factors(table, to, gamma))


def _class_factors(table: Confusion, to: Any, gamma: object) -> Floats:  # noqa: ANN401  (checked here)
    """Return the factor of each class, in each table."""
    if gamma is not None or isinstance(to, float | int):
        raise OptionError(
            f"a table of {len(table.labels)} classes needs a share for each",
            remedy=f"give {keyword('prevalence')} as a mapping.",
        )
    shares = check_shares("prevalence", to, table.labels)
    missing = table.truth.reshape(-1, len(table.labels)).min(axis=0) == 0
    if missing.any():
        label = table.labels[int(missing.argmax())]
        raise EmptyDataError(f"there are no rows of the class {label!r} that could be reweighted", remedy="add some.")
    factors: Floats = shares * np.asarray(table.total)[..., None] / table.truth
    return factors


def _scale_confusion(table: Confusion, factors: Floats) -> Confusion:
    by = factors[..., None]
    squares = Confusion(make_read_only(table.squares.mass * by**2), table.labels)
    return Confusion(make_read_only(table.mass * by), table.labels, moments=(squares, table.rows), reweighed=True)


def _reweigh_confusions(tables: Confusions, to: object, gamma: object) -> Confusions:
    factors = _class_factors(tables.pooled, to, gamma)
    return replace(tables, tables={group: _scale_confusion(table, factors) for group, table in tables.tables.items()})


_REWEIGHERS: dict[type, Callable[[Any, Any, Any], Any]] = {
    Tally: _reweigh_tally,
    Tallies: _reweigh_tallies,
    Counts: _reweigh_counts,
    Confusion: _reweigh_confusion,
    Confusions: _reweigh_confusions,
}


def _check_both_classes(positives: npt.ArrayLike, negatives: npt.ArrayLike) -> None:
    for name, mass in (("positives", positives), ("negatives", negatives)):
        if np.size(mass) and not np.min(mass) > 0:  # also NaN
            raise NotBinaryError(f"there are no {name} that could be reweighted", remedy="give rows of both classes.")

"""`baserate prevalence`: read, estimate the shares of the classes, test what that assumes, carry measures there."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import BINS
from baserate.cli._ask import answer, remark
from baserate.cli._deployed import AS_THEY_ARE, Deployed, deployed, headline, read_many, read_two, shares_at
from baserate.cli._options import (
    LEVEL,
    Verb,
    Writing,
    bundled,
    check_place,
    command,
    complete_measures,
    each_once,
    names,
    share,
    thresholds,
    whole,
    writing,
)
from baserate.cli._say import put, say
from baserate.cli._settings import Stated, stated

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate.shift import Prevalence, Shares

_VALIDATED = "--score risk --validation old.csv --truth sick"
_EXAMPLES = (
    ("how many are sick among those whom nobody tested?", f"baserate prevalence new.csv {_VALIDATED}"),
    (
        "some of them were tested: what is known helps",
        f"baserate prevalence new.csv {_VALIDATED} --target-truth sick",
    ),
    (
        "keep a map to probabilities that are right there, and use it",
        f"baserate prevalence new.csv {_VALIDATED} --map there.json && baserate apply there.json new.csv -o out.csv",
    ),
    (
        "what precision would there be, flagging from 0.3 on?",
        f"baserate prevalence new.csv {_VALIDATED} --threshold 0.3 --measures precision,recall",
    ),
    ("by decisions alone, as labels would give them", f"baserate prevalence new.csv {_VALIDATED} --method acc"),
    (
        "many classes, a probability for each",
        "baserate prevalence new.csv --scores p_ --validation pets.csv --truth is",
    ),
)


@dataclass(frozen=True, slots=True)
class Estimating:
    """How to estimate, and what else is wanted."""

    method: str | None
    no_recalibration: bool
    at: str | None
    threshold: tuple[tuple[float, ...], ...]
    alpha: float | None
    bins: int | None
    level: float
    measure: tuple[tuple[str, ...], ...]
    map: str | None

    def __post_init__(self) -> None:
        if self.at and not self.no_recalibration:
            raise click.UsageError("--at is for probabilities taken as they are; add --no-recalibration.")
        if self.map == "-":
            raise click.UsageError("--map writes a file beside the numbers, which go to stdout; name one.")
        if self.map:
            check_place(Path(self.map), "--map")

    @property
    def thresholds(self) -> list[float]:
        """Thresholds of decisions, each once."""
        return each_once(self.threshold)

    @property
    def measures(self) -> list[str]:
        """Names of measures as they were given."""
        return [name for each in self.measure for name in each]

    def options(self, *, many: bool) -> dict[str, Any]:
        """Options of the method; those that it does not have are refused."""
        from baserate.shift import DEFAULT, DEFAULT_OF_CLASSES, options_of, resolve_method

        name = resolve_method(self.method or (DEFAULT_OF_CLASSES if many else DEFAULT))
        known = options_of(name, many=many)
        given: dict[str, Any] = {
            "recalibrate": False if self.no_recalibration else None,
            "at": self.at,
            "alpha": self.alpha,
            "bins": self.bins,
            "threshold": self._cut(name) if "threshold" in known else None,
        }
        # Bins are those of the test too, and thresholds those of measures, if the method has no use for them.
        idle = [each for each, value in given.items() if value is not None and each not in known]
        idle = [each for each in idle if many or each != "bins"] + ["threshold"] * bool(many and self.threshold)
        if idle:
            flag = "no-recalibration" if idle[0] == "recalibrate" else idle[0]
            whom = f"{name} of many classes" if many else name
            other = "add --method mlls, or " if name == DEFAULT and idle[0] in ("recalibrate", "at") else ""
            raise click.UsageError(f"--{flag} has no use for {whom}; {other}leave it out.")
        return {each: value for each, value in given.items() if value is not None and each in known}

    def _cut(self, name: str) -> float | None:
        if len(self.thresholds) > 1:
            raise click.UsageError(f"{name} estimates by decisions at one threshold; give one.")
        return self.thresholds[0] if self.thresholds else None


def _methods(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a method."""
    from baserate.shift import ALIASES, METHODS

    return [name for name in (*METHODS, *ALIASES) if name.startswith(incomplete)]


def _estimating(verb: Verb) -> Verb:
    return bundled(verb, Estimating, "estimating", _ESTIMATING)


_ESTIMATING = (
    click.option(
        "--method",
        metavar="METHOD",
        shell_complete=_methods,
        help="By histograms, of two classes, without calibration: binned, hdy. By moments, of several classes: gmm "
        "(also elsa). After calibration: mlls, by maximum likelihood (also em, emq, sld, saerens). By decisions: acc "
        "(cm, bbse-hard, gacc), cm-l, cm-map (cm-m), rlls-hard. By mean probabilities: pacc (scm, bbse, bbse-soft, "
        "gpacc, smm), scm-l, scm-map (scm-m), rlls (rlls-soft). [default: binned; of several classes gmm]",
    ),
    *AS_THEY_ARE,
    click.option(
        "--threshold",
        type=thresholds,
        metavar="NUMBERS",
        multiple=True,
        help="Flag scores at or above it, in measures and where the method decides; several with commas. Otherwise 0.5 "
        "if scores are probabilities.",
    ),
    click.option(
        "--alpha",
        type=float,
        help="Of cm-map and scm-map: strength of the prior, otherwise 3. Of rlls and rlls-hard: of the penalty, "
        "otherwise 0.01.",
    ),
    click.option(
        "--bins",
        type=whole(BINS._replace(low=2)),
        help="Bins of the test and of binned; otherwise 10, fewer where validation is small.",
    ),
    LEVEL,
    click.option(
        "--measures",
        "measure",
        type=names,
        metavar="NAMES",
        shell_complete=complete_measures,
        multiple=True,
        help="Measures to carry there, by any of their names, separated by commas, or all; otherwise the usual ones.",
    ),
    click.option(
        "--map",
        type=click.Path(),
        metavar="FILE",
        help="Write a map from scores to probabilities that are right at the estimate, for `baserate apply`.",
    ),
)


@command("prevalence", examples=_EXAMPLES)
@deployed
@_estimating
@stated
@writing
def prevalence(deployed: Deployed, estimating: Estimating, stated: Stated, writing: Writing) -> None:
    """Estimate how many are positive among rows without truth.

    It assumes label shift: the scores of each class are distributed as in --validation, and only the shares of the
    classes differ. That is tested as far as scores can tell. Measures of validation are carried to the estimate.
    TARGET is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    if not deployed.validation:
        raise click.MissingParameter(param_hint="'--validation'", param_type="option", ctx=click.get_current_context())
    if deployed.scores:
        from baserate.cli._classes import require_costs

        stated.refuse_for_classes()
        require_costs(estimating.measures, None)
        _of_many(deployed, estimating, writing)
    else:
        _of_two(deployed, estimating, stated, writing)


def _of_two(deployed: Deployed, estimating: Estimating, stated: Stated, writing: Writing) -> None:
    from baserate import shift
    from baserate.cli._estimated import Wanted, of_two
    from baserate.cli._shares import page
    from baserate.cli._summary import chosen

    options = estimating.options(many=False)
    if estimating.at:
        options["at"] = share(estimating.at, f"{estimating.at!r} is no prevalence; give a number between 0 and 1.")
    measures = stated.bind(chosen(estimating.measures))
    wanted = Wanted(measures, estimating.thresholds or None, estimating.bins)
    target, validation = read_two(deployed, quiet=writing.quiet)
    assert validation is not None  # noqa: S101  (for the type checker)
    found = shift.prevalence(target, validation, method=estimating.method, level=estimating.level, **options)
    results = of_two(found, target, validation, wanted)
    map_ = _map(found, deployed, results.data["positive"]) if estimating.map else None
    line = headline(deployed, results.data)
    remark(line, results.data, writing, inferred=deployed.positive is None)
    _write(map_, estimating, deployed, writing)
    answer(results, lambda: page(results, deployed.reading, line, writing.digits), writing)


def _of_many(deployed: Deployed, estimating: Estimating, writing: Writing) -> None:
    from baserate import shift
    from baserate.cli._classes import known
    from baserate.cli._estimated import Wanted, of_many
    from baserate.cli._shares import class_page

    options = estimating.options(many=True)
    wanted = Wanted(known(estimating.measures))
    target, validation = read_many(deployed, quiet=writing.quiet)
    assert validation is not None  # noqa: S101  (for the type checker)
    if estimating.at:
        options["at"] = shares_at(estimating.at, validation)
    found = shift.prevalence(target, validation, method=estimating.method, level=estimating.level, **options)
    results = of_many(found, target, validation, wanted)
    map_ = _map(found, deployed, dict(target.intake.columns)["score"]) if estimating.map else None
    line = headline(deployed, results.data)
    remark(line, results.data, writing, inferred=False)
    _write(map_, estimating, deployed, writing)
    answer(results, lambda: class_page(results, deployed.reading, line, writing.digits), writing)


def _map(found: "Prevalence | Shares", deployed: Deployed, named: Any) -> "Calibrator | MulticlassCalibrator":  # noqa: ANN401
    """Make the map to probabilities that are right there, with the columns of the target; `named` is what is there."""
    from baserate import FitError, shift

    shares = found.value.tolist() if isinstance(found, shift.Shares) else [found.value, 1 - found.value]
    if min(shares) <= 0:
        raise FitError(
            "a class has an estimated share of 0, so that no probability would be any other; leave out --map."
        )
    if isinstance(found, shift.Shares):
        several = shift.posterior(found)
        return replace(several, columns=dict(zip(several.labels, named, strict=True)))
    columns = {"truth": str(deployed.truth), "score": str(deployed.score)}
    return replace(shift.posterior(found), columns=columns, positive=str(named))


def _write(
    map_: "Calibrator | MulticlassCalibrator | None", estimating: Estimating, deployed: Deployed, writing: Writing
) -> None:
    if map_ is None:
        return
    put(map_.to_json(), estimating.map)
    if not writing.quiet:
        again = " ".join("FILE" if file == "-" else file for file in deployed.file)
        say(f"wrote {estimating.map}: {map_!r}; apply it with: baserate apply {estimating.map} {again} -o OUT")

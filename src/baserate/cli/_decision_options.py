"""Options of `baserate decide`: the rule that chooses a threshold, and its parameters."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import click
from click.shell_completion import CompletionItem

from baserate._domains import BANDWIDTH, FOLDS, KNOTS, SAMPLES, SPAN, TRIM, parse_share
from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate.cli._declarations import given_values, option
from baserate.cli._options import (
    Beta,
    Cost,
    FileNames,
    NetBenefitAt,
    OutcomeCosts,
    Prevalence,
    RequirementTexts,
    two_class_measures,
)
from baserate.cli._values import (
    CELLS,
    Number,
    RegisteredName,
    complete_two_class,
    read_numbers,
    read_share,
    read_threshold,
    whole_number,
)

if TYPE_CHECKING:
    from baserate.decide import DecisionRule, Requirement, Rule, RuleOption
    from baserate.measure import Measure, Settings

_BAND_EDGES = ("bands", "band_shares", "band_risks")


def _list_rules() -> dict[str, str]:
    from baserate.decide import list_command_line_rules

    return {name: entry.summary for name, entry in list_command_line_rules().items()}


def _find_rule_name(text: str) -> str:
    from baserate.decide import find_rule_entry

    return find_rule_entry(text).name


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _join_rules(names: Sequence[str]) -> str:
    """Join names of rules with commas and a final "or".

    >>> _join_rules(["best"]), _join_rules(["best", "normal", "require"])
    ('best', 'best, normal or require')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _read_threshold(text: str) -> float:
    return read_threshold(text, f"several make bands: --bands {text}")


def _read_value(text: str) -> tuple[str, float]:
    """Read a measure and its value.

    >>> _read_value("sensitivity = 90%")
    ('sensitivity', 0.9)
    """
    name, _, number = text.partition("=")
    value: object = parse_share(number)
    if name.rstrip().endswith((">", "<")):
        raise click.BadParameter(f"{text!r} is a requirement; state it by --require, or a value after a single =.")
    if not name.strip() or not isinstance(value, float) or not math.isfinite(value):
        raise click.BadParameter(f"{text!r} is not a measure and its value, such as 'sensitivity = 90%'.")
    return name.strip(), value


def _read_trim(text: str) -> float:
    """Read a share of rows at each end."""
    message = f"{text!r} is not a share of rows at each end; give one from 1e-6 to 0.49, such as 10%."
    return read_share(text, message, domain=TRIM)


def _read_span(text: str) -> float | str:
    """Read a share above 0 and at most 1, or the criterion that chooses it.

    >>> _read_span("50%"), _read_span("1"), _read_span("aicc")
    (0.5, 1.0, 'aicc')
    """
    if text.strip().lower() == "aicc":
        return "aicc"
    message = f"{text!r} is not a share of thresholds; give one above 0 and at most 1, such as 0.5, or aicc."
    return read_share(text, message, domain=SPAN)


def _read_coverage(text: str) -> float:
    return read_share(
        text, f"{text!r} is not a share of cases to be decided; give one between 0 and 1, both excluded, such as 80%."
    )


def _read_shares(text: str) -> tuple[float, ...]:
    """Read shares, separated by commas."""
    message = f"{text!r} are not shares between 0 and 1, such as 0.1,0.2 or 10%,20%."
    return tuple(read_share(part, message) for part in text.split(","))


def _read_band_shares(text: str) -> tuple[float, ...]:
    """Read shares of everybody, which leave somebody for the lowest band."""
    shares = _read_shares(text)
    if math.fsum(shares) >= 1:
        raise click.BadParameter(f"the shares add up to {math.fsum(shares):.6g}; leave some for the lowest band.")
    return shares


def _read_band_names(text: str) -> tuple[str, ...]:
    """Read names of bands."""
    band_names = tuple(part.strip() for part in text.split(","))
    if not all(band_names):
        raise click.BadParameter(f"{text!r} has a band without a name; give each one.")
    return band_names


def _read_capacity(text: str) -> tuple[str, float]:
    """Read the greatest number of flagged rows: per cent and numbers below 1 are shares.

    >>> _read_capacity("10%"), _read_capacity("0.1"), _read_capacity("250")
    (('share', 0.1), ('share', 0.1), ('at_most', 250.0))
    """
    bare = text.strip().removesuffix("%")
    percent = bare != text.strip()
    try:
        number = float(bare) / (100 if percent else 1)
    except ValueError:
        number = math.nan
    share = percent or number < 1
    if not 0 < number < math.inf or (share and number > 1):
        raise click.BadParameter(f"{text!r} is not a capacity; give rows, such as 100, or a share, such as 10% or 0.1.")
    return ("share" if share else "at_most", number)


def _complete_goal(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of one measure of decisions."""
    from baserate import Counts
    from baserate.measure import MEASURES, describe

    goals = [each for each in complete_two_class(context, option, incomplete) if "," not in each.value]
    measures = [each for each in goals if describe(MEASURES[each.value]).of is Counts]
    return [*measures, *[CompletionItem("cost", help="The cost of --fp and --fn.")] * "cost".startswith(incomplete)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionOptions(OutcomeCosts):
    """Options of a choice: rule, costs, prevalence, requirements, bands, validation."""

    rule: Annotated[
        str | None,
        option(
            type=RegisteredName(_list_rules, _find_rule_name),
            metavar="NAME",
            default="by the other options (costs: cost, --require: require, …), or youden",
        ),
        "Rule that chooses the threshold; `baserate list rules` lists them.",
    ] = None
    prevalence: Prevalence = None
    require: Annotated[
        RequirementTexts, "Requirements, such as 'specificity >= 0.9, precision >= 30%'; may be repeated."
    ] = ()
    maximize: Annotated[
        str | None,
        option(metavar="MEASURE", shell_complete=_complete_goal, default="youden with --require"),
        "Measure of decisions to maximize.",
    ] = None
    minimize: Annotated[
        str | None,
        option(metavar="MEASURE", shell_complete=_complete_goal),
        "Measure of decisions to minimize; cost is the cost of --fp and --fn.",
    ] = None
    capacity: Annotated[
        tuple[str, float] | None,
        option(type=_read_capacity, metavar="NUMBER"),
        "Greatest number of flagged rows; below 1 or with % it is a share: 0.1 and 10% are the top tenth.",
    ] = None
    abstain_cost: Annotated[Cost, "Cost of referring a case; the cheapest decision is chosen."] = None
    coverage: Annotated[
        float | None,
        option(type=_read_coverage, metavar="SHARE"),
        "Least share of decided cases, such as 80%; the rest is referred.",
    ] = None
    bands: Annotated[
        tuple[float, ...] | None, option(type=read_numbers, metavar="NUMBERS"), "Edges of risk bands, such as 0.1,0.3."
    ] = None
    band_shares: Annotated[
        tuple[float, ...] | None,
        option(type=_read_band_shares, metavar="SHARES"),
        "Risk bands by size, highest first: 10%,20% are the top tenth, the next fifth, and the rest.",
    ] = None
    band_risks: Annotated[
        tuple[float, ...] | None,
        option(type=_read_shares, metavar="SHARES"),
        "Risk bands by observed risk: 0.05,0.2 are the risks at their edges.",
    ] = None
    band_names: Annotated[
        tuple[str, ...] | None, option(type=_read_band_names, metavar="NAMES"), "Names of the risk bands, lowest first."
    ] = None
    threshold: Annotated[
        float | None, option(type=_read_threshold, metavar="NUMBER"), "Fixed threshold to evaluate."
    ] = None
    midpoints: Annotated[
        bool, "Thresholds midway between neighboring scores; the same rows of the data are flagged."
    ] = False
    group_thresholds: Annotated[bool, "Threshold of each group by --group, with differences between groups."] = False
    nearest: Annotated[
        tuple[str, float] | None,
        option(type=_read_value, metavar="VALUE"),
        "Measure and the value that it should be nearest to, such as 'sensitivity = 90%'.",
    ] = None
    trim: Annotated[
        float | None,
        option(type=_read_trim, metavar="SHARE", default="0.1"),
        "Share of rows at each end without thresholds, of the rule min-p-value.",
    ] = None
    equal_variances: Annotated[bool, "Fit one variance to both classes, with the rule normal."] = False
    bandwidth: Annotated[
        float | None,
        option(type=Number(BANDWIDTH), metavar="NUMBER", default="Silverman's, for each class"),
        "Kernel bandwidth in units of the score, of the rule kernel.",
    ] = None
    span: Annotated[
        float | str | None,
        option(type=_read_span, metavar="SHARE", default="0.5"),
        "Share of thresholds in a neighborhood of loess; aicc chooses it by the corrected Akaike criterion.",
    ] = None
    knots: Annotated[
        int | None,
        option(type=whole_number(KNOTS), metavar="NUMBER", default="10"),
        "Number of knots of the rule spline.",
    ] = None
    samples: Annotated[
        int | None,
        option(type=whole_number(SAMPLES), metavar="NUMBER", default="50"),
        "Number of bootstrap samples of the rule bootstrap-average.",
    ] = None
    average: Annotated[
        str | None,
        option(type=click.Choice(["mean", "median"]), default="mean"),
        "Average of the thresholds of bootstrap samples.",
    ] = None
    measures: Annotated[
        tuple[str, ...],
        two_class_measures("the usual ones", "Measures of decisions by any of their names, with commas, or all."),
    ] = ()
    net_benefit_at: NetBenefitAt = None
    beta: Beta = None
    n_bootstrap: Annotated[
        int | None,
        option(type=whole_number(SAMPLES._replace(low=0)), metavar="NUMBER", default="1000"),
        "Number of bootstrap samples; 0 for none.",
    ] = None
    folds: Annotated[
        int | None,
        option(type=whole_number(FOLDS), metavar="NUMBER"),
        "Number of cross-validation folds, to evaluate the choice.",
    ] = None
    judge_on: Annotated[FileNames, "Test data with the same columns, to evaluate the choice."] = ()

    def __post_init__(self) -> None:
        for message in (*self._unused_options(), *self._missing_options(), *self._contradictions()):
            raise click.UsageError(message)

    @property
    def rule_name(self) -> str:
        """Name of the rule: that of --rule, or the one that other options imply."""
        if self.rule:
            return self.rule
        from baserate.decide import rules_by_option

        implied = (rules[0] for name, rules in rules_by_option().items() if self._is_given(name))
        return next(implied, "cost" if self.has_costs else "youden")

    @property
    def entry(self) -> "DecisionRule":
        """Entry of the rule in the registry."""
        from baserate.decide import DECISION_RULES

        return DECISION_RULES[self.rule_name]

    @property
    def has_costs(self) -> bool:
        """Whether costs are stated."""
        return any(map(self._is_given, CELLS))

    @property
    def settings(self) -> "Settings":
        """Numbers that measures depend on."""
        from baserate.measure import Settings

        return Settings(self.outcome_costs, self.net_benefit_at, self.beta)

    @property
    def resampling(self) -> dict[str, Any]:
        """Numbers of bootstrap samples and of folds, if they are stated."""
        return given_values(self, ("n_bootstrap", "folds"))

    @property
    def choose(self) -> "Rule":
        """The rule with its options, which are checked as far as they can be without data."""
        from baserate.decide import use_midpoints

        return use_midpoints(self.choose_as_stated) if self.midpoints else self.choose_as_stated

    @property
    def choose_as_stated(self) -> "Rule":
        """The rule with its options, before thresholds move to midpoints."""
        options = {name: value for each in self.entry.options for name, value in self._arguments(each).items()}
        return partial(self.entry.function, **options) if options else self.entry.function

    @property
    def measure_list(self) -> "list[Measure] | None":
        """Measures of decisions, each once; None for the usual ones."""
        from baserate import Counts
        from baserate.measure import MEASURES, describe, find_measure

        if "all" in self.measures:
            return [self.settings.apply(each) for each in MEASURES.values() if describe(each).of is Counts]
        named = {describe(each).name: each for each in map(find_measure, self.measures)}
        unfit = [name for name, each in named.items() if describe(each).of is not Counts]
        if unfit:
            raise OptionError(
                f"{unfit[0]} does not depend on the threshold", remedy="compute it with `baserate measure`."
            )
        return [self._bind(each) for each in named.values()] or None

    def _arguments(self, rule_option: "RuleOption") -> dict[str, Any]:
        """Arguments of the rule's function that an option sets; none where it is not given."""
        value = getattr(self, rule_option.name)
        if not self._is_given(rule_option.name):
            return {}
        if rule_option.kind == "rows_or_share":
            return dict([value])
        if rule_option.kind == "value":
            return {"measure": self._objective(value[0]), "value": value[1]}
        if rule_option.parameter == "costs":
            value = self.outcome_costs
        elif rule_option.kind == "measure":
            value = self._objective(value)
        elif rule_option.kind == "requirements":
            value = self._requirements()
        assert rule_option.parameter is not None  # noqa: S101  (only rows or shares have several)
        return {rule_option.parameter: value, **dict(rule_option.implies)}

    def _requirements(self) -> "tuple[Requirement, ...]":
        """Requirements, whose measures have the numbers that they depend on."""
        from baserate.decide import parse_requirements

        return tuple(
            replace(each, measure=self._bind(each.measure))
            for text in self.require
            for each in parse_requirements(text, of_decisions=True)
        )

    def _objective(self, name: str | None) -> "Measure | None":
        """Find the measure to optimize; a cost is at the stated costs."""
        if name is None:
            return None
        from baserate.decide import resolve_objective
        from baserate.measure import expected_cost

        cost = name.strip().lower() == "cost"
        return self._bind(expected_cost if cost else resolve_objective(name, "high")[0])

    def _bind(self, measure: "Measure") -> "Measure":
        """Bind the numbers that a measure depends on, and refuse one that lacks them."""
        from baserate.cli._options import require_settings

        bound = self.settings.apply(measure)
        require_settings([bound])
        return bound

    @property
    def _used_settings(self) -> set[str]:
        """Options that the named measures depend on, besides costs."""
        from baserate.decide import parse_requirements
        from baserate.measure import MEASURES, find_measure, option_of

        measures = [*MEASURES.values()] if "all" in self.measures else [find_measure(name) for name in self.measures]
        measures += [
            find_measure(name) for name in (self.maximize, self.minimize) if name and name.strip().lower() != "cost"
        ]
        measures += [find_measure(self.nearest[0])] if self.nearest else []
        measures += [each.measure for text in self.require for each in parse_requirements(text)]
        return {{"at": "net_benefit_at"}.get(name, name) for each in measures if (name := option_of(each))}

    def _is_given(self, name: str) -> bool:
        value = getattr(self, name)
        return value is not False and value not in (None, ())

    def _unused_options(self) -> Iterator[str]:
        """Yield messages on options that the rule does not use."""
        from baserate.decide import rules_by_option

        for name, rules in rules_by_option().items():
            if self._is_given(name) and self.rule_name not in rules:
                yield (
                    f"{_flag(name)} is for the rule {_join_rules(rules)}, and the rule is {self.rule_name}; leave it "
                    f"out, or give --rule {rules[0]}."
                )
        if self.has_costs and not self.entry.has_table:
            cost = next(filter(self._is_given, CELLS))
            yield f"{_flag(cost)} is for flags, which the rule {self.rule_name} does not set; leave out {_flag(cost)}."
        if self.midpoints and (self.rule_name == "fixed" or self.bands):
            yield "--midpoints is for thresholds that a rule chooses, and these are stated; leave out --midpoints."
        for name in ("net_benefit_at", "beta"):
            if self._is_given(name) and name not in self._used_settings:
                yield f"no named measure depends on {_flag(name)}; leave it out."
        if self.folds is not None and self.entry.no_folds:
            yield f"--folds is for a threshold that is chosen, and {self.entry.no_folds}; leave out --folds."

    def _missing_options(self) -> Iterator[str]:
        """Yield a message on an option that the rule requires."""
        if self.entry.needs and not any(map(self._is_given, self.entry.needs)):
            yield f"the rule {self.rule_name} needs {self.entry.needs_example}."

    def _contradictions(self) -> Iterator[str]:
        """Yield messages on contradictions and impossible values."""
        from baserate.decide import exclusive_options

        for one, other in exclusive_options():
            if self._is_given(one) and self._is_given(other):
                yield f"{_flag(one)} and {_flag(other)} contradict each other; give one of them."
        if (self.maximize or self.minimize or "").strip().lower() == "cost" and (self.maximize or not self.has_costs):
            yield "a cost can only be minimized, at stated costs; for example: --minimize cost --fp 1 --fn 20."
        if self.prevalence is not None and self.capacity and self.capacity[0] == "at_most":
            yield "a number of rows has no meaning at another prevalence; give a share, such as --capacity 10%."
        if self.folds is not None and self.capacity and self.capacity[0] == "at_most":
            yield "a number of rows has no meaning without a fold; give a share, such as --capacity 10%."
        for name in ("bands", "band_risks"):
            edges = getattr(self, name) or ()
            if list(edges) != sorted(set(edges)):
                yield f"{_flag(name)} must ascend, each edge once."
        edges = next((getattr(self, name) for name in _BAND_EDGES if self._is_given(name)), ())
        if self.band_names and len(set(self.band_names)) != len(edges) + 1:
            n_names, edges_text = len(edges) + 1, count_of(len(edges), "edge")
            yield f"--band-names must be {n_names} different ones, lowest band first, for {edges_text}."

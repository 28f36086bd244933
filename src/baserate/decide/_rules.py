"""The registry of decision rules: one entry per rule, from which every list of rules is derived.

To add a rule, write its function in `_threshold_rules` or `_cost_rules` and one entry in `_ENTRIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from itertools import combinations
from typing import Any, Literal

from baserate._costs import Costs
from baserate._errors import OptionError, UnknownNameError, keyword, nearest, unknown_name
from baserate._formatting import count_of, format_name, format_share, join_words
from baserate._policy import Policy
from baserate.decide import (
    _cost_rules,
    _criterion_rules,
    _minimal_p_value,
    _smooth_class_rules,
    _smooth_measure_rules,
    _threshold_rules,
)
from baserate.measure import MEASURES, as_measure, describe, resolve_name
from baserate.read import PredictionOptions, check_options

Settings = Mapping[str, Any]
"""Options of a rule by the names of its parameters, as a policy stores them."""
OptionKind = Literal[
    "cost",
    "flag",
    "word",
    "share_or_word",
    "value",
    "number",
    "numbers",
    "share",
    "shares",
    "names",
    "measure",
    "requirements",
    "rows_or_share",
]


@dataclass(frozen=True, slots=True)
class RuleOption:
    """An option of a rule, as the command line and other text interfaces offer it."""

    name: str
    """Name where it is typed, with underscores: `abstain_cost` is `--abstain-cost` in a shell."""
    kind: OptionKind
    """How its text is read. `rows_or_share` is a number of rows (`at_most`) or a share of all (`share`)."""
    parameter: str | None
    """Parameter of the rule's function; None where the kind decides which one."""
    implies: tuple[tuple[str, str], ...] = ()
    """Further parameters that the option sets, with their values."""


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """An entry of the registry: a rule's function, and everything that interfaces need to offer it."""

    name: str
    function: Callable[..., Policy]
    """Takes a curve and options, and returns a policy."""
    summary: str
    """One sentence in standard words, for help, documentation and the page."""
    aliases: tuple[str, ...] = ()
    """Names in other software and in the literature; separators and capitals do not matter."""
    describe: Callable[[Settings], str] | None = None
    """Describes a choice by its settings, as in "Flag risk ≥ 0.65 (rule: …)"; None for the name and the settings."""
    options: tuple[RuleOption, ...] = ()
    needs: tuple[str, ...] = ()
    """Options that suffice: at least one must be given."""
    needs_example: str = ""
    """What is missing, with an example, for the error without any of `needs`."""
    exclusive: tuple[tuple[str, ...], ...] = ()
    """Groups of options that exclude each other."""
    uses_data: bool = True
    """Whether the choice depends on the data, so that it can be optimistic and the bootstrap applies."""
    has_table: bool = True
    """Whether its actions are to flag or not, so that there is a confusion matrix and costs apply."""
    no_folds: str | None = None
    """Why cross-validation does not apply; None where it does."""
    on_command_line: bool = True
    compared: bool = True
    """Whether summaries show its choice beside those of other rules, if it needs no options."""
    in_plans: bool = False
    """Whether a plan may name it: it needs no options but costs."""
    page_label: str | None = None
    """Label of its button on the HTML page, whose id is the name; None without a button."""

    @property
    def needs_no_options(self) -> bool:
        """Whether the rule chooses on a curve alone, so that summaries compare it with other rules."""
        return self.compared and self.on_command_line and not self.options

    @property
    def page_function(self) -> str | None:
        """Key of the rule in `choose` of rules.js; None without a button."""
        first, *others = self.name.split("-")
        return None if self.page_label is None else first + "".join(map(str.capitalize, others))


def describe_costs(settings: Settings) -> str:
    """Format the costs among settings: those of errors, and others that are not 0; 1 per error by default.

    >>> describe_costs({"costs": {"fp": 1.0, "fn": 20.0, "tp": 0.0, "tn": 0.0}}).replace("\N{NO-BREAK SPACE}", " ")
    'FP 1, FN 20'
    """
    costs = settings.get("costs") or {"fp": 1.0, "fn": 1.0, "tp": 0.0, "tn": 0.0}
    outcomes = [name for name in ("fp", "fn", "tp", "tn") if costs[name] or name in ("fp", "fn")]
    return ", ".join(f"{name.upper()}\N{NO-BREAK SPACE}{costs[name]:g}" for name in outcomes)


def _describe_objective(extreme: str, measure: str, settings: Settings) -> str:
    if measure == "expected_cost":
        return f"{extreme} cost with {describe_costs(settings)}"
    return f"{extreme} {format_name(measure)}"


def _describe_best(settings: Settings) -> str:
    measure = settings["measure"]
    # A policy stores the end only if it was stated.
    toward = settings.get("toward") or describe(as_measure(measure)).best
    return _describe_objective("greatest" if toward == "high" else "least", measure, settings)


def _describe_require(settings: Settings) -> str:
    if "minimize" in settings:
        objective = _describe_objective("least", settings["minimize"], settings)
    else:
        objective = _describe_objective("greatest", settings.get("maximize", "sensitivity + specificity"), settings)
    return f"{objective}, with {join_words(settings['require']).replace('_', ' ')}"


def _describe_capacity(settings: Settings) -> str:
    if "share" in settings:
        return f"at most {format_share(settings['share'])} of all rows"
    return f"at most {count_of(settings['at_most'], 'row', shown=format(settings['at_most'], 'g'))}"


def _describe_bands(settings: Settings) -> str:
    if "shares" in settings:
        return f"bands that hold at most {join_words(map(format_share, settings['shares']))}, from above"
    if "risks" in settings:
        return f"bands that begin at a risk of {join_words(map(format_share, settings['risks']))}"
    return "bands as given"


def _describe_abstain(settings: Settings) -> str:
    costs = describe_costs(settings)
    if "refer" in settings:
        return f"least cost with {costs}, and {settings['refer']:g} for a referred case"
    return f"least cost of a decided case with {costs}, at least {format_share(settings['coverage'])} decided"


def _describe_smooth(how: str, settings: Settings) -> str:
    """Describe a rule that smooths before it takes the best threshold."""
    return f"{_describe_best(settings)}, {how}"


_COSTS = tuple(RuleOption(name, "cost", "costs") for name in ("fp", "fn", "tp", "tn"))
_OBJECTIVE = (
    RuleOption("maximize", "measure", "measure", implies=(("toward", "high"),)),
    RuleOption("minimize", "measure", "measure", implies=(("toward", "low"),)),
)
_BAND_EDGES = ("bands", "band_shares", "band_risks")

_ENTRIES = (
    DecisionRule(
        "fixed",
        _threshold_rules.fixed,
        "Flag from a given threshold on, whatever the data.",
        aliases=("manual", "oc-manual", "fixed-threshold", "threshold"),  # cutpointr, scikit-learn
        describe=lambda _: "as given",
        options=(RuleOption("threshold", "number", "threshold"),),
        needs=("threshold",),
        needs_example="a threshold: --threshold 0.5",
        uses_data=False,
        no_folds="a fixed threshold does not depend on the data",
    ),
    DecisionRule(
        "youden",
        _threshold_rules.youden,
        "Maximize sensitivity + specificity (Youden's J, balanced accuracy).",
        # pROC, cutpointr, OptimalCutpoints, scikit-learn (`balanced_accuracy` of TunedThresholdClassifierCV).
        aliases=("youden-index", "youdens-j", "j-index", "informedness", "sum-sens-spec", "balanced-accuracy"),
        describe=lambda _: "greatest sensitivity + specificity",
        in_plans=True,
        page_label="Youden",
    ),
    DecisionRule(
        "closest",
        _threshold_rules.closest,
        "Minimize the distance to the point (0, 1) of the ROC curve.",
        aliases=("closest-topleft", "topleft", "top-left", "roc01", "min-roc-dist"),  # pROC, cutpointr
        describe=lambda _: "closest to the upper left corner of the ROC curve",
        in_plans=True,
        page_label="Closest to (0,1)",
    ),
    DecisionRule(
        "balanced",
        _threshold_rules.balanced,
        "Equalize sensitivity and specificity (equal error rate).",
        aliases=("equal-error-rate", "eer", "abs-d-sens-spec", "sp-equal-se", "sens-spec"),  # OptimalCutpoints
        describe=lambda _: "sensitivity = specificity",
        in_plans=True,
        page_label="Sensitivity = specificity",
    ),
    DecisionRule(
        "break-even",
        _threshold_rules.break_even,
        "Equalize precision and recall (break-even point): as many flagged as there are positives.",
        aliases=("breakeven", "precision-recall-break-even", "prbep"),
        describe=lambda _: "precision = recall",
        in_plans=True,
        page_label="Precision = recall",
    ),
    DecisionRule(
        "best",
        _threshold_rules.best,
        "Maximize or minimize any measure of the confusion matrix.",
        aliases=("maximize-metric", "minimize-metric", "tuned-threshold"),  # cutpointr, scikit-learn
        describe=_describe_best,
        options=_OBJECTIVE,
        needs=("maximize", "minimize"),
        needs_example="a measure: --maximize f1, or --minimize fpr",
        exclusive=(("maximize", "minimize"),),
    ),
    DecisionRule(
        "normal",
        _smooth_class_rules.normal,
        "Fit a normal distribution to each class, and optimize a measure (Youden's J by default).",
        aliases=("youden-normal", "oc-youden-normal", "binormal"),  # cutpointr
        describe=partial(_describe_smooth, "of two normal distributions"),
        options=(*_OBJECTIVE, RuleOption("equal_variances", "flag", "equal_variances")),
        exclusive=(("maximize", "minimize"),),
    ),
    DecisionRule(
        "kernel",
        _smooth_class_rules.kernel,
        "Smooth each class with a Gaussian kernel, and optimize a measure (Youden's J by default).",
        aliases=("youden-kernel", "oc-youden-kernel"),  # cutpointr
        describe=partial(_describe_smooth, "of kernel-smoothed classes"),
        options=(*_OBJECTIVE, RuleOption("bandwidth", "number", "bandwidth")),
        exclusive=(("maximize", "minimize"),),
    ),
    DecisionRule(
        "loess",
        _smooth_measure_rules.loess,
        "Smooth a measure by threshold with local lines, and optimize it (Youden's J by default).",
        aliases=("lowess", "maximize-loess-metric", "minimize-loess-metric"),  # cutpointr
        describe=partial(_describe_smooth, "smoothed by loess"),
        options=(*_OBJECTIVE, RuleOption("span", "share_or_word", "span")),
        exclusive=(("maximize", "minimize"),),
    ),
    DecisionRule(
        "spline",
        _smooth_measure_rules.spline,
        "Smooth a measure by threshold with a spline, and optimize it (Youden's J by default).",
        aliases=("gam", "maximize-gam-metric", "minimize-gam-metric", "maximize-spline-metric", "smoothing-spline"),
        describe=partial(_describe_smooth, "smoothed by a spline"),
        options=(*_OBJECTIVE, RuleOption("knots", "number", "knots")),
        exclusive=(("maximize", "minimize"),),
    ),
    DecisionRule(
        "bootstrap-average",
        _smooth_measure_rules.bootstrap_average,
        "Average the best thresholds of bootstrap samples (by Youden's J by default).",
        aliases=("bootstrap", "bagging", "maximize-boot-metric", "minimize-boot-metric"),  # cutpointr
        describe=lambda settings: _describe_smooth(
            f"{settings.get('average', 'mean')} over {settings.get('samples', 50)} bootstrap samples", settings
        ),
        options=(
            *_OBJECTIVE,
            RuleOption("samples", "number", "samples"),
            RuleOption("average", "word", "average"),
        ),
        exclusive=(("maximize", "minimize"),),
    ),
    DecisionRule(
        "balanced-predictive-values",
        _criterion_rules.balanced_predictive_values,
        "Equalize PPV and NPV.",
        aliases=(
            "npv-equal-ppv",
            "abs-d-ppv-npv",
        ),
        describe=lambda _: "PPV = NPV",
        compared=False,
    ),
    DecisionRule(
        "closest-predictive-values",
        _criterion_rules.closest_predictive_values,
        "Minimize the distance of PPV and NPV to 1.",
        aliases=("proc01",),
        describe=lambda _: "PPV and NPV closest to 1",
        compared=False,
    ),
    DecisionRule(
        "maximin",
        _criterion_rules.maximin,
        "Maximize the lesser of sensitivity and specificity.",
        aliases=(
            "max-sp-se",
            "min-sens-spec",
        ),
        describe=lambda _: "greatest lesser of sensitivity and specificity",
        compared=False,
    ),
    DecisionRule(
        "maximin-predictive-values",
        _criterion_rules.maximin_predictive_values,
        "Maximize the lesser of PPV and NPV.",
        aliases=("max-npv-ppv",),
        describe=lambda _: "greatest lesser of PPV and NPV",
        compared=False,
    ),
    DecisionRule(
        "minimax",
        _criterion_rules.minimax,
        "Minimize the more frequent of false positives and false negatives.",
        aliases=("minimax-error",),
        describe=lambda _: "fewest of the more frequent error",
        compared=False,
    ),
    DecisionRule(
        "prevalence-matching",
        _criterion_rules.prevalence_matching,
        "Flag as many rows as there are positives.",
        aliases=("predicted-prevalence",),
        describe=lambda _: "as many flagged as positives",
        compared=False,
    ),
    DecisionRule(
        "observed-prevalence",
        _criterion_rules.observed_prevalence,
        "Flag probabilities from the prevalence on.",
        aliases=("observed-prev",),
        describe=lambda _: "risk of at least the prevalence",
        compared=False,
    ),
    DecisionRule(
        "mean-score",
        _criterion_rules.mean_score,
        "Flag scores from their mean on.",
        aliases=(
            "mean",
            "oc-mean",
            "mean-prev",
        ),
        describe=lambda _: "scores from their mean on",
        compared=False,
    ),
    DecisionRule(
        "median-score",
        _criterion_rules.median_score,
        "Flag scores from their median on.",
        aliases=(
            "median",
            "oc-median",
        ),
        describe=lambda _: "scores from their median on",
        compared=False,
    ),
    DecisionRule(
        "nearest",
        _criterion_rules.nearest,
        "Take the threshold where a measure is nearest to a stated value.",
        aliases=("nearest-value", "target-value"),
        describe=lambda settings: f"{format_name(settings['measure'])} nearest to {settings['value']:g}",
        options=(RuleOption("nearest", "value", None),),
        needs=("nearest",),
        needs_example="a measure and its value: --nearest 'sensitivity = 90%'",
    ),
    DecisionRule(
        "min-p-value",
        _minimal_p_value.min_p_value,
        "Minimize the p-value of a chi-square test (biased: prefer costs or requirements).",
        aliases=("min-pvalue", "minimal-p-value", "minimum-p-value", "minp", "p-chisquared"),
        describe=lambda _: "least p-value of a chi-square test",
        options=(RuleOption("trim", "share", "trim"),),
    ),
    DecisionRule(
        "cost",
        _cost_rules.cost,
        "Minimize the expected cost per case.",
        aliases=("least-cost", "minimum-cost", "misclassification-cost", "mct", "cost-benefit"),
        describe=lambda settings: f"least cost with {describe_costs(settings)}",
        options=_COSTS,
        needs=tuple(option.name for option in _COSTS),
        needs_example="costs of errors: --fp 1 --fn 20",
        in_plans=True,
        page_label="Lowest cost",
    ),
    DecisionRule(
        "actions",
        _cost_rules.actions,
        "Minimize the expected cost per case over any number of actions.",
        on_command_line=False,
    ),
    DecisionRule(
        "require",
        _threshold_rules.require,
        "Optimize a measure among the thresholds that satisfy requirements.",
        aliases=("constrained", "metric-constrain", "required"),  # cutpointr
        describe=_describe_require,
        options=(
            RuleOption("require", "requirements", "require"),
            RuleOption("maximize", "measure", "maximize"),
            RuleOption("minimize", "measure", "minimize"),
        ),
        needs=("require",),
        needs_example="a requirement: --require 'specificity >= 0.9'",
        exclusive=(("maximize", "minimize"),),
    ),
    DecisionRule(
        "capacity",
        _threshold_rules.capacity,
        "Flag the highest scores, up to a number of rows or a share of all.",
        aliases=("top-k", "top-n", "budget", "alert-budget"),
        describe=_describe_capacity,
        options=(RuleOption("capacity", "rows_or_share", None),),
        needs=("capacity",),
        needs_example="a capacity: --capacity 100, or --capacity 10%",
    ),
    DecisionRule(
        "bands",
        _threshold_rules.bands,
        "Cut the scores into bands: at thresholds, by share or by risk.",
        aliases=("risk-bands", "risk-groups", "strata"),
        describe=_describe_bands,
        options=(
            RuleOption("bands", "numbers", "thresholds"),
            RuleOption("band_shares", "shares", "shares"),
            RuleOption("band_risks", "shares", "risks"),
            RuleOption("band_names", "names", "names"),
        ),
        needs=_BAND_EDGES,
        needs_example="edges: --bands 0.1,0.3, --band-shares 10%,20% or --band-risks 0.05,0.2",
        exclusive=(_BAND_EDGES,),
        has_table=False,
        no_folds="bands have no confusion matrix",
    ),
    DecisionRule(
        "abstain",
        _cost_rules.abstain,
        "Refer uncertain cases: at a cost per referral, or to reach a coverage (reject option).",
        aliases=("chow", "reject-option", "referral", "abstention", "selective-classification"),
        describe=_describe_abstain,
        options=(
            *_COSTS,
            RuleOption("abstain_cost", "cost", "refer"),
            RuleOption("coverage", "share", "coverage"),
        ),
        needs=("abstain_cost", "coverage"),
        needs_example="the cost of a referral, --abstain-cost 0.1, or --coverage 80%",
        exclusive=(("abstain_cost", "coverage"),),
    ),
)

DECISION_RULES: dict[str, DecisionRule] = {entry.name: entry for entry in _ENTRIES}
"""Entry of every rule by its name."""
RULES: dict[str, Callable[..., Policy]] = {name: entry.function for name, entry in DECISION_RULES.items()}
"""Function of every rule by its name."""


def _reduce(name: str) -> str:
    """Return the letters and digits of a name in lower case: software differs in separators and capitals.

    >>> _reduce("closest.topleft"), _reduce("SpEqualSe"), _reduce("Youden's J")
    ('closesttopleft', 'spequalse', 'youdensj')
    """
    return "".join(character for character in name.lower() if character.isalnum())


_NAMES = {_reduce(name): entry.name for entry in _ENTRIES for name in (entry.name, *entry.aliases)}
"""Name of a rule by the reduced form of its name and aliases."""


def find_rule(name: str) -> Callable[..., Policy]:
    """Find a rule by its name, or by its name in pROC, cutpointr, OptimalCutpoints or scikit-learn.

    Parameters
    ----------
    name
        Name or alias; only its letters and digits matter, in either case.

    Returns
    -------
    callable
        The rule: a function of a curve and options that returns a `Policy`.

    Raises
    ------
    UnknownNameError
        If no rule has that name; the message suggests the nearest.

    Examples
    --------
    >>> find_rule("Break even").__name__
    'break_even'
    >>> find_rule("closest.topleft").__name__
    'closest'
    """
    return find_rule_entry(name).function


def find_rule_entry(name: str) -> DecisionRule:
    """Find the entry of a rule by its name or an alias, as `find_rule` finds its function.

    >>> find_rule_entry("top-left").name
    'closest'
    """
    reduced = _reduce(name)
    if reduced in _NAMES:
        return DECISION_RULES[_NAMES[reduced]]
    raise unknown_name("rule", name, RULES, near=[_NAMES[each] for each in nearest(reduced, _NAMES)])


class RuleOptions(PredictionOptions, total=False):
    """Keywords of functions that take a rule by name: its options, and predictions, for type checkers."""

    measure: str
    toward: Literal["high", "low"]
    require: str | Sequence[str]
    maximize: str
    minimize: str
    at_most: float
    share: float
    threshold: float
    refer: float
    coverage: float
    thresholds: Sequence[float]
    shares: Sequence[float]
    risks: Sequence[float]
    names: Sequence[str]
    equal_variances: bool
    bandwidth: float | Literal["nrd0"]
    span: float | Literal["aicc"]
    knots: int
    samples: int
    average: Literal["mean", "median"]
    value: float
    trim: float


def bind_rule(
    rule: str | Callable[..., Policy] | None, costs: Costs | None, options: Mapping[str, Any]
) -> partial[Policy]:
    """Bind a rule to its options, and to costs if it depends on them.

    Without a rule, it is the one that the options imply, or that of least cost.

    >>> bind_rule("capacity", Costs(fp=1, fn=5), {"share": 0.1}).keywords
    {'share': 0.1}
    >>> bind_rule(None, Costs(fp=1, fn=5), {}).keywords
    {'costs': Costs(tp=0.0, fp=1, fn=5, tn=0.0)}
    >>> bind_rule(None, None, {"share": 0.1}).func.__name__
    'capacity'
    """
    bound = {name: each for name, each in options.items() if each is not None}
    if rule is None and bound.keys() == {"maximize"}:  # without requirements, as `best` calls it
        bound = {"measure": bound["maximize"]}
    if rule is None:
        rule = "cost" if costs is not None and not bound else _implied_rule(bound)
    choose = _find_named_rule(rule) if isinstance(rule, str) else rule
    if costs is not None and _depends_on_costs(choose, bound):
        bound["costs"] = costs
    if bound or isinstance(rule, str):
        _check_rule_options(choose, bound)
    return partial(choose, **bound)


_IMPLIED_RULES = {"require": "require", "measure": "best", "share": "capacity", "threshold": "fixed"}
"""Option -> the rule that it implies."""


def _implied_rule(options: Mapping[str, Any]) -> str:
    """Return the rule that its options imply."""
    implied = next((rule for option, rule in _IMPLIED_RULES.items() if option in options), None)
    if implied is None:
        if options:
            check_options("the choice of a threshold", options, {"rule", *RuleOptions.__annotations__})
        raise OptionError(
            "the choice of a threshold needs the costs of both errors, or the name of a rule.",
            remedy=f"Give fp=1, fn=20 with your costs; or {keyword('rule', 'youden')}.",
            option="costs",
        )
    return implied


def _find_named_rule(name: str) -> Callable[..., Policy]:
    """Find a rule; for a measure or a requirement in its place, name the option that takes it."""
    try:
        return find_rule(name)
    except UnknownNameError as error:
        if any(sign in name for sign in "<>"):
            raise OptionError(f"{name!r} is a requirement.", remedy=f"Give {keyword('require', name)}.") from error
        if resolve_name(name, MEASURES):
            raise OptionError(f"{name!r} is a measure.", remedy=f"Give {keyword('measure', name)}.") from error
        raise


def _depends_on_costs(choose: Callable[..., Policy], options: Mapping[str, Any]) -> bool:
    """Return whether a rule, or the measure that it optimizes, takes costs that are not bound yet."""
    if isinstance(choose, partial) and "costs" in choose.keywords:
        return False
    parameters = signature(choose).parameters
    if "options" in parameters and "measure" in options:
        parameters = signature(as_measure(options["measure"])).parameters
    return "costs" in parameters


def _check_rule_options(choose: Callable[..., Policy], options: Mapping[str, Any]) -> None:
    """Refuse options that a rule lacks, and calls without those that it needs."""
    _, *parameters = signature(choose).parameters.values()
    named = {each.name: each for each in parameters if each.kind is not Parameter.VAR_KEYWORD}
    rule = getattr(choose, "__name__", "the rule").replace("_", "-")
    open_ended = any(each.name not in ("predictions", *named) for each in parameters)
    unknown = next((name for name in options if name not in named and not open_ended), None)
    if unknown is not None:
        listing = f"Options of {rule}: {', '.join(named)}." if named else f"{rule} has no options."
        raise unknown_name("option", unknown, [*named, *_COMMON_OPTIONS], listing=listing)
    missing = [name for name, each in named.items() if each.default is Parameter.empty and name not in options]
    if missing:
        raise OptionError(
            f"the rule {rule} needs {keyword(missing[0])}.", remedy="Give it, or name another rule.", option=missing[0]
        )


_COMMON_OPTIONS = ("prevalence", "costs", "fp", "fn", "measures", "level", "method", "seed")
"""Options of functions that take a rule, for suggestions of names."""


def list_command_line_rules() -> dict[str, DecisionRule]:
    """List the rules that the command line offers; those that ignore the data come last.

    >>> [*list_command_line_rules()][-1]
    'fixed'
    """
    ordered = sorted(_ENTRIES, key=lambda entry: not entry.uses_data)
    return {entry.name: entry for entry in ordered if entry.on_command_line}


def rules_by_option() -> dict[str, tuple[str, ...]]:
    """Map each option other than costs to the rules that use it, those first that it implies.

    The first option that is given implies the first of its rules. Options of a single rule come before those of
    several, so that `--require … --maximize …` means `require`; the fixed threshold comes last of those.

    >>> rules_by_option()["maximize"][:2]
    ('best', 'normal')
    """
    users: dict[str, list[str]] = {}
    for entry in sorted(_ENTRIES, key=lambda entry: not entry.uses_data):
        for option in entry.options:
            if option not in _COSTS:
                users.setdefault(option.name, []).append(entry.name)
    return {name: tuple(rules) for name, rules in sorted(users.items(), key=lambda item: len(item[1]))}


def exclusive_options() -> list[tuple[str, str]]:
    """List the pairs of options that contradict each other, each once.

    >>> exclusive_options()[0]
    ('maximize', 'minimize')
    """
    groups = dict.fromkeys(group for entry in _ENTRIES for group in entry.exclusive)
    return [pair for group in groups for pair in combinations(group, 2)]


def plan_rules() -> tuple[str, ...]:
    """List the rules that a plan may name, the rule of least cost first, since costs imply it.

    >>> plan_rules()
    ('cost', 'youden', 'closest', 'balanced', 'break-even')
    """
    return tuple(entry.name for entry in _by_options() if entry.in_plans)


def page_rules() -> dict[str, DecisionRule]:
    """List the rules that have a button on the HTML page, in the order of the buttons.

    >>> [entry.page_function for entry in page_rules().values()]
    ['cost', 'youden', 'closest', 'balanced', 'breakEven']
    """
    return {entry.name: entry for entry in _by_options() if entry.page_label is not None}


def _by_options() -> list[DecisionRule]:
    """List all entries, those with options first."""
    return sorted(_ENTRIES, key=lambda entry: not entry.options)

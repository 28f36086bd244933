"""Options that several commands share: what to read, costs, settings of measures, intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
from click.shell_completion import CompletionItem

from baserate._domains import MIN_GROUP, POINTS, TOP_K
from baserate.cli._declarations import (
    FORMATS,
    ArgumentSpec,
    NameChoice,
    OptionSpec,
    Output,
    argument,
    flag_of,
    given_flags,
    given_values,
    missing_option,
    omit,
    option,
    refuse_given,
)
from baserate.cli._values import (
    CELLS,
    Prior,
    combine_ratios,
    complete_measures,
    complete_two_class,
    join_distinct,
    join_lists,
    read_cost,
    read_level,
    read_names,
    read_prevalence,
    read_prevalences,
    read_prior,
    read_probability,
    read_rate,
    read_setting,
    read_thresholds,
    whole_number,
)

if TYPE_CHECKING:
    from baserate._costs import Costs
    from baserate._policy import Policy
    from baserate.decide import Requirement
    from baserate.infer import IntervalOptions
    from baserate.measure import Measure, Settings


def check_group(groups: tuple[str, ...]) -> None:
    """Refuse options without a column of groups, as click does."""
    if not groups:
        raise missing_option("--group")


def check_score_options(score: object, scores: object, what: str) -> None:
    """Refuse scores of two classes beside scores of several, and neither of them."""
    if bool(score) == bool(scores):
        remedy = "leave out one of them" if score else f"name the columns of {what} with one of them"
        raise click.UsageError(f"--score is for two classes, --scores for several; {remedy}.")


def read_reference(text: str | None, columns: tuple[str, ...]) -> dict[str, str]:
    """Read the reference group: column -> label; a bare label belongs to the only column."""
    if text is None:
        return {}
    if not columns:
        raise click.UsageError(f"--reference {text} names a group, but there are no groups; add --group COLUMN.")
    if len(columns) == 1:
        return {columns[0]: text.removeprefix(f"{columns[0]}=")}  # no more: a label may contain =
    labels = dict(each.partition("=")[::2] for each in text.split(","))
    if any(name not in columns for name in labels):
        raise click.BadParameter(
            f"{text!r} names no column of --group; expected COLUMN=LABEL, with columns {', '.join(columns)}.",
            param_hint="'--reference'",
        )
    return labels


FILES = "a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin."


def files_argument(metavar: str = "FILE...", *, required: bool = True) -> ArgumentSpec:
    """Declare the argument of files to read."""
    note = f"{metavar.strip('[].')} is {FILES}"
    path = click.Path(allow_dash=True)
    return argument(type=path, nargs=-1, required=required, metavar=metavar, note=note)


def _split_columns(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that are listed with commas or one by one; a name in double quotes may have commas.

    >>> _split_columns(None, None, ("race,sex", '"a,b",c'))
    ('race', 'sex', 'a,b', 'c')
    """
    from csv import reader  # rarely needed

    listed = [next(reader([text], skipinitialspace=True)) if {",", '"'} & {*text} else [text] for text in texts]
    return tuple(name for names in listed for name in names if name)


def _split_distinct(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that are listed, each once."""
    return tuple(dict.fromkeys(_split_columns(context, option, texts)))


Column = Annotated[str | None, option(metavar="COLUMN")]
Columns = Annotated[tuple[str, ...], option(metavar="COLUMNS", multiple=True, callback=_split_columns)]
ColumnList = Annotated[tuple[str, ...], option(type=read_names, metavar="COLUMNS")]
NewName = Annotated[str | None, option(metavar="NAME")]
FileName = Annotated[str | None, option(type=click.Path(), metavar="FILE")]
FileNames = Annotated[tuple[str, ...], option(type=click.Path(allow_dash=True), multiple=True, metavar="FILE")]
FileOrStdout = Annotated[str | None, option(type=click.Path(allow_dash=True), metavar="FILE")]
MeasureNames = Annotated[tuple[str, ...], option(type=read_names, metavar="NAMES", shell_complete=complete_two_class)]
RequirementTexts = Annotated[tuple[str, ...], option(multiple=True, metavar="TEXT")]
PrevalenceShare = Annotated[float | None, option(type=read_prevalence, metavar="SHARE")]
ClassShares = Annotated[Prior | None, option(type=read_prior, metavar="SHARE")]
GroupPrevalences = Annotated[
    float | dict[str, float] | None,
    option(
        "--prevalence",
        type=read_prevalences,
        metavar="SHARE",
        default="that of the sample",
        help="Prevalence in deployment, such as 0.02 or 2%, or of each group, such as 'f=2%,m=3%'; of several columns "
        "'f/north=2%'.",
    ),
]
ConfidenceLevel = Annotated[float | None, option(type=read_level, metavar="SHARE")]
Cost = Annotated[float | None, option(type=read_cost, metavar="COST")]
Ratio = Annotated[float | None, option(type=float, metavar="NUMBER")]
Reference = Annotated[
    str | None,
    option(metavar="GROUP", default="the largest"),
    "Reference group: its label, or COLUMN=LABEL,… where there are several columns.",
]
MinGroup = Annotated[
    int | None,
    option(type=click.IntRange(1), metavar="ROWS", default=str(MIN_GROUP)),
    "Least number of rows that a tested measure rests on, for example negatives for the FPR.",
]
Points = Annotated[int | None, option(type=whole_number(POINTS))]
"""Types of options that differ in their help."""

Truth = Annotated[Column, option("--truth"), "Column with the true labels."]
Positive = Annotated[
    str | None, option("--positive", metavar="LABEL", default="1 or true"), "Label of the positive class."
]
Negative = Annotated[
    str | None, option("--negative", metavar="LABEL"), "Label of the negative class, if there are more than two labels."
]
Weight = Annotated[Column, option("--weight"), "Column with sampling weights."]
Count = Annotated[Column, option("--count"), "Column with the number of identical rows that a row stands for."]
Missing = Annotated[Literal["refuse", "drop"], option("--missing"), "Treatment of rows with missing or unknown values."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options that say what to read."""

    file: Annotated[tuple[str, ...], files_argument()] = ()
    truth: Truth = None
    score: Annotated[Columns, "Column with the scores; of several models their columns, with commas or repeated."] = ()
    predicted: Annotated[Column, "Column with predicted labels: a model without a threshold."] = None
    positive: Positive = None
    negative: Negative = None
    group: Annotated[
        Columns,
        option(callback=_split_distinct),
        "Columns with groups, with commas or repeated; several make groups of their combinations.",
    ] = ()
    weight: Weight = None
    count: Count = None
    missing: Missing = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalReading(Reading):
    """Options that say what to read, where a plan or typed tables may take the place of files."""

    file: Annotated[tuple[str, ...], files_argument("[FILE]...", required=False)] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOutput(Output):
    """Flags of the output of a command that also writes a page for browsers."""

    format_: Annotated[
        str | None,
        option("--format", type=NameChoice([*FORMATS, "html"]), default="by the ending of -o, or table"),
        "Output format.",
    ] = None

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats that the command can write."""
        return (*FORMATS, "html")


ScoreColumns = Annotated[
    ColumnList,
    option("--scores"),
    "Columns with a score for each class: p_cat,p_dog, or p_ for all with this prefix, or cat=c1,dog=c2.",
]
ClassLabels = Annotated[
    tuple[str, ...],
    option("--labels", type=read_names, metavar="LABELS", default="those that occur"),
    "All classes, in order.",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScores:
    """Options for a score of each class."""

    scores: ScoreColumns = ()
    labels: ClassLabels = ()


def thresholds_option(help: str, **settings: Any) -> OptionSpec:  # noqa: A002, ANN401  (those of click)
    """Declare an option of thresholds, listed with commas or repeated."""
    usual: dict[str, Any] = {
        "type": read_thresholds,
        "metavar": "NUMBERS",
        "multiple": True,
        "callback": join_distinct,
        "default": "0.5 for probabilities",
    }
    return option("--threshold", help=help, **{**usual, **settings})


Thresholds = Annotated[
    tuple[float, ...], thresholds_option("Thresholds, with commas: scores at or above one are flagged.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOption:
    """A policy that decides instead of a threshold."""

    policy: Annotated[FileName, "Policy that decides; it also names the columns and groups."] = None

    def refuse_both(self, threshold: object) -> None:
        """Refuse a policy beside a threshold."""
        if self.policy is not None and threshold not in (None, ()):
            raise click.UsageError("--policy and --threshold both state the decisions; leave out one of them.")

    @property
    def decision_policy(self) -> "Policy | None":
        """The policy of the file, if there is one."""
        if self.policy is None:
            return None
        from baserate.cli._io import load_policy

        return load_policy(self.policy)


def threshold_per_score() -> OptionSpec:
    """Declare an option with a threshold for all scores, or one for each."""
    text = "Threshold for all scores, or one for each --score with commas: scores at or above it are flagged."
    return thresholds_option(text, callback=join_lists)  # two scores may have the same


def two_class_measures(default: str, help_text: str = "Measures by any of their names, with commas.") -> OptionSpec:
    """Declare an option with measures of two classes."""
    return measures_option(default=default, help=help_text, shell_complete=complete_two_class)


Level = Annotated[
    float, option("--level", type=read_level, metavar="SHARE"), "Confidence level, from 1e-9 to 1 - 1e-9."
]
OptionalLevel = Annotated[ConfidenceLevel, option("--level", default="0.95"), "Confidence level, such as 0.9 or 90%."]
Seed = Annotated[int, option("--seed", type=click.IntRange(0)), "Random seed."]


def measures_option(**settings: Any) -> OptionSpec:  # noqa: ANN401  (those of click)
    """Declare an option of measures, listed with commas or repeated."""
    usual: dict[str, Any] = {
        "type": read_names,
        "metavar": "NAMES",
        "multiple": True,
        "callback": join_lists,
        "shell_complete": complete_measures,
        "default": "the usual ones",
        "help": "Measures by any of their names, with commas, or all.",
    }
    return option(**{**usual, **settings})


Measures = Annotated[tuple[str, ...], measures_option()]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCosts:
    """Options for the cost of each outcome. Both errors have one, or none has: a default would weigh them silently."""

    fp: Annotated[Cost, "Cost of a false positive, stated with --fn; a gain if negative."] = None
    fn: Annotated[Cost, "Cost of a false negative, stated with --fp; a gain if negative."] = None
    tp: Annotated[Cost, option(default="0"), "Cost of a true positive; a gain if negative."] = None
    tn: Annotated[Cost, option(default="0"), "Cost of a true negative; a gain if negative."] = None

    @property
    def costs_by_outcome(self) -> dict[str, float]:
        """Costs on the command line, by outcome."""
        return given_values(self, CELLS)

    @property
    def outcome_costs(self) -> "Costs | None":
        """Costs of all outcomes, if there are any on the command line."""
        stated = self.costs_by_outcome
        if not stated:
            return None
        lacking = [flag_of(name) for name in ("fp", "fn") if name not in stated]
        if lacking:
            raise click.UsageError(
                f"{flag_of(next(iter(stated)))} is given without {' and '.join(lacking)}; state what both errors cost, "
                "such as --fp 1 --fn 20."
            )
        from baserate import Costs

        return Costs(**stated)


Prevalence = Annotated[
    PrevalenceShare,
    option("--prevalence", default="that of the sample"),
    "Prevalence in deployment, such as 0.02 or 2%.",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingRatios:
    """Options for a prevalence in deployment that is stated by how rows were sampled."""

    gamma: Annotated[Ratio, "Ratio of negatives to positives in deployment, as a multiple of that in the sample."] = (
        None
    )
    under_sampled: Annotated[Ratio, "Negatives in deployment for each one in the sample, 1 or more."] = None
    over_sampled: Annotated[Ratio, "Positives in deployment for each one in the sample, at most 1."] = None

    @property
    def odds_ratio(self) -> float | None:
        """γ of these options; None if there are none."""
        return combine_ratios(self.gamma, self.under_sampled, self.over_sampled)


_NUMBERS = {
    "net_benefit_at": "at",
    "beta": "beta",
    **{f"at_{name}": name for name in ("specificity", "sensitivity", "precision")},
    "top_k": "k",
    "entropy_alpha": "alpha",
}
"""Options for numbers that measures depend on, other than costs -> the setting of measures that each one is."""
FLAGS = {"costs": "--fp, --fn, --tp and --tn", **{setting: flag_of(name) for name, setting in _NUMBERS.items()}}
_EXAMPLES = {"costs": "--fp 1 --fn 20", "at": "--net-benefit-at 0.1"}
NetBenefitAt = Annotated[
    float | None,
    option("--net-benefit-at", type=read_probability, metavar="SHARE"),
    "Threshold probability of net benefit, such as 0.1 or 10%.",
]
Beta = Annotated[
    float | None, option("--beta", type=read_setting, metavar="NUMBER", default="1"), "β of f-beta and e-measure."
]
AtSpecificity = Annotated[
    float | None, option(type=read_rate, metavar="RATE"), "Specificity at which sensitivity is measured."
]
AtSensitivity = Annotated[
    float | None, option(type=read_rate, metavar="RATE"), "Sensitivity at which specificity or precision is measured."
]
AtPrecision = Annotated[
    float | None, option(type=read_rate, metavar="RATE"), "Precision at which sensitivity is measured."
]
TopK = Annotated[
    int | None,
    option(type=whole_number(TOP_K), metavar="INTEGER", default="10"),
    "Number of rows with the highest scores, of precision-at-k and its like.",
]
EntropyAlpha = Annotated[
    float | None,
    option("--entropy-alpha", type=read_setting, metavar="NUMBER", default="2"),
    "α of generalized entropy; 1 is Theil's index.",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSettings(OutcomeCosts):
    """Options for numbers that measures depend on."""

    net_benefit_at: NetBenefitAt = None
    beta: Beta = None
    at_specificity: AtSpecificity = None
    at_sensitivity: AtSensitivity = None
    at_precision: AtPrecision = None
    top_k: TopK = None
    entropy_alpha: EntropyAlpha = None

    def to_settings(self) -> "Settings":
        """Make the settings that the library takes."""
        return replace(self.numbers, costs=self.outcome_costs)

    @property
    def numbers(self) -> "Settings":
        """The settings without costs."""
        from baserate.measure import Settings

        return Settings(**{setting: getattr(self, name) for name, setting in _NUMBERS.items()})

    @property
    def number_flags(self) -> list[str]:
        """Flags of these numbers, except costs, that are on the command line."""
        return given_flags(self, _NUMBERS)

    @property
    def flags(self) -> list[str]:
        """Flags that are on the command line."""
        return given_flags(self, (*CELLS, *_NUMBERS))

    def bind(self, measures: "Iterable[str | Measure] | str") -> "list[Measure] | Literal['usual', 'all']":
        """Bind the settings to the measures; refuse missing ones, and those of no use."""
        if not isinstance(measures, str):
            return bind_settings(self.to_settings(), measures)
        if self.flags:
            example = "precision_at_k" if self.flags == ["--top-k"] else "expected_cost,net_benefit"
            raise click.UsageError(
                f"{self.flags[0]} is for measures that are named; name them, such as --measures {example}."
            )
        return "all" if measures == "all" else "usual"

    def bind_requirements(self, requirements: "Sequence[Requirement]") -> "tuple[Requirement, ...]":
        """Bind the settings to the measures of requirements."""
        bound = bind_settings(self.to_settings(), [each.measure for each in requirements])
        return tuple(replace(each, measure=measure) for each, measure in zip(requirements, bound, strict=True))

    def refuse_for_classes(self) -> None:
        """Refuse costs and numbers of two classes where there are several."""
        if self.top_k is not None:
            raise click.UsageError(
                "--top-k is for two classes; of several, write k in the name, such as --measures top_3_accuracy, or "
                "ndcg_at_3 of sets of labels."
            )
        if self.flags:
            raise click.UsageError(
                f"{self.flags[0]} is for two classes; of several, name a file with the cost of each decision with "
                "--costs."
            )


def bind_settings(settings: "Settings", measures: "Iterable[str | Measure]") -> "list[Measure]":
    """Bind numbers to measures; refuse those that are missing, and those that are of no use."""
    from baserate.measure import as_measure

    bound = [settings.apply(as_measure(each)) for each in measures]
    require_settings(bound)
    for name in settings.idle(bound):
        raise click.UsageError(f"none of the measures depends on {FLAGS[name]}; leave it out.")
    return bound


def require_settings(measures: "Iterable[Measure]") -> None:
    """Refuse measures that depend on numbers which were not stated."""
    from baserate.measure import REQUIREMENTS, find_missing_options

    for name, setting in find_missing_options(measures):
        raise click.UsageError(f"{name} needs {REQUIREMENTS[setting]}; give it, for example {_example(setting)}.")


def example_options(measure: str) -> list[str]:
    """Options that a suggested command needs for a measure that depends on stated numbers."""
    from baserate.measure import REQUIRED_OPTIONS

    return [_example(REQUIRED_OPTIONS[measure])] if measure in REQUIRED_OPTIONS else []


def _example(setting: str) -> str:
    """Write the option of a setting with an example of its value."""
    return _EXAMPLES.get(setting) or f"{FLAGS[setting]} 0.9"


def _check_method(context: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """Refuse an unknown method, and name the nearest."""
    if text is None:
        return None
    from baserate.cli._errors import refuse_unknown_name
    from baserate.infer import INTERVAL_METHODS

    # Pages write Clopper–Pearson with an en dash, which people copy.
    typed = text.strip().lower().replace("_", "-").replace("–", "-")
    if typed not in INTERVAL_METHODS:
        refuse_unknown_name(context, "kind of interval", text, INTERVAL_METHODS)
    return typed


def _complete_method(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from baserate.infer import INTERVAL_METHODS

    return [CompletionItem(name) for name in INTERVAL_METHODS if name.startswith(incomplete)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Options for confidence intervals."""

    level: OptionalLevel = None
    interval: Annotated[
        str | None,
        option(metavar="METHOD", callback=_check_method, shell_complete=_complete_method, default="by measure"),
        "Interval method where supported, such as wilson, delong or bootstrap.",
    ] = None
    no_interval: Annotated[bool, "Point estimates alone."] = False
    seed: Annotated[int | None, option(type=click.IntRange(0), metavar="NUMBER", default="0"), "Random seed."] = None
    cluster: Annotated[Column, "Column with clusters of dependent rows, such as patient."] = None

    def __post_init__(self) -> None:
        if self.no_interval:
            idle = ("level", "interval", "seed", "cluster")
            refuse_given(self, idle, "{} is for intervals; leave out either it or --no-interval.")
        if self.interval and self.cluster:
            raise click.UsageError(
                f"--interval {self.interval} assumes independent rows, --cluster does not; leave out one of them."
            )

    def to_interval(self) -> "IntervalOptions | None":
        """Make the settings that the library takes; None for no intervals."""
        if self.no_interval:
            return None
        from baserate.infer import IntervalOptions

        level = {} if self.level is None else {"level": self.level}
        return IntervalOptions(method=self.interval, seed=self.seed or 0, **level)

    @property
    def confidence(self) -> float | None:
        """The confidence level; None for no intervals."""
        interval = self.to_interval()
        return None if interval is None else interval.level


IndependentIntervals = Annotated[Intervals, omit("cluster")]
"""Those of rows that are independent."""
RequiredIntervals = Annotated[Intervals, omit("cluster", "no_interval")]
"""Those of commands that need intervals."""
ClosedFormIntervals = Annotated[Intervals, omit("interval", "seed", "cluster")]
"""Those that are computed in one way, without bootstrap samples."""

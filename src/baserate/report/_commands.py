"""Commands that a report suggests: complete shell commands, or Python statements where the rows are in memory.

The first half writes a plan as options and keywords; the second half writes steps, and lists what to do next.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from math import isfinite, isinf
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from baserate._costs import Costs
from baserate.infer import interval_methods
from baserate.measure import sensitivity
from baserate.read import LabelText, resolve_label
from baserate.report._plan import Plan, name_samples
from baserate.report._report import Report, Snippet
from baserate.text import Command, CommandList

READ_FIELDS = ("truth", "score", "predicted", "positive", "negative", "group", "weight", "count", "missing")
_LABEL_FIELDS = ("positive", "negative")
_FLAGS: dict[str, str] = {"method": "--interval", "output": "-o", "model_labels": "--label"}
"""Flags of fields and options that are not called like them."""
_DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(Plan)}


def command_words(plan: Plan, *more: str) -> list[str]:
    """Return files and flags that make this plan in a shell, quoted.

    >>> from baserate import Costs
    >>> plan = Plan(files="my people.csv", truth="sick", score="risk", costs=Costs(fp=1, fn=20))
    >>> " ".join(command_words(plan))
    "'my people.csv' --truth sick --score risk --fp 1 --fn 20"
    """
    return spell_words(plan, _FIELDS["report"], more)


def spell_plan(plan: Plan) -> dict[str, Any]:
    """Return the parts of a plan that name the rows, for a shell and for Python; the page adds the other options.

    >>> words = spell_plan(Plan(files="people.csv", truth="sick", score="risk", group="site", prevalence=0.02))
    >>> words["shell"]
    ['people.csv', '--truth', 'sick', '--score', 'risk', '--group', 'site']
    >>> words["files"], words["plan"]
    ('["people.csv"]', 'truth="sick", score=["risk"], group=["site"]')
    """
    more = ("level", "method", "seed")
    # The page appends options, which could not follow the "--" that a file such as -x.csv needs; "./-x.csv" needs none.
    files = tuple(f"./{file}" if file.startswith("-") and file != "-" else file for file in plan.files)
    return {
        "shell": spell_words(replace(plan, files=files), (*READ_FIELDS, *more), ()),
        "id": spell_words(replace(plan, files=()), ("id",), ()),
        "file": bool(plan.files),
        "files": python_literal(plan.files),
        "plan": ", ".join(keyword_arguments(plan, (*READ_FIELDS, "id", *more))),
        "read": ", ".join(keyword_arguments(plan, READ_FIELDS, spelled=True)),
        "policy": plan.policy_file and shlex.quote(plan.policy_file),
        "policy_file": plan.policy_file and python_literal(plan.policy_file),
    }


def keyword_arguments(plan: Plan, names: Iterable[str], *, spelled: bool = False) -> Iterator[str]:
    """Yield fields that differ from the defaults as keyword arguments; text labels perhaps as `LabelText`."""
    for name in names:
        value = getattr(plan, name)
        # The column of labels is stated even if it has the default name: readers of data require it.
        if (name == "truth" and value) or value != _DEFAULTS[name]:
            literal = python_literal(value)
            label = spelled and name in _LABEL_FIELDS and isinstance(value, str)
            yield f"{name}={f'baserate.read.{LabelText.__name__}({literal})' if label else literal}"


def python_literal(value: Any) -> str:  # noqa: ANN401  (any field)
    """Return a value as Python writes it, text in double quotes.

    >>> print(python_literal(("a", 1)), python_literal(Costs(fp=1, fn=20)), python_literal(float("-inf")))
    ["a", 1] baserate.Costs(fp=1, fn=20) float("-inf")
    """
    plain: Any = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, tuple):
        return f"[{', '.join(map(python_literal, plain))}]"
    if isinstance(plain, Mapping):
        return f"{{{', '.join(f'{python_literal(name)}: {python_literal(each)}' for name, each in plain.items())}}}"
    if isinstance(plain, Costs):
        return f"baserate.Costs({', '.join(f'{cell}={_shell_text(cost)}' for cell, cost in _nonzero_costs(plain))})"
    if isinstance(plain, float) and not isfinite(plain):
        return f'float("{plain}")'
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, str) else repr(plain)


def spell_words(plan: Plan, names: Iterable[str], more: Iterable[str]) -> list[str]:
    """Return files, and flags of fields that differ from the defaults, quoted; `more` are further flags."""
    words: list[str] = []
    for name in names:
        value: Any = plan.policy_file if name == "policy" else getattr(plan, name)
        if value is None or (value == _DEFAULTS[name] and name != "truth"):
            continue
        if name == "costs":
            words += (word for cell, cost in _nonzero_costs(value) for word in option_words(cell, cost))
        elif name == "apart":
            words.append("--apart")
        else:
            words += option_words(name, value)
    # A file name that begins with a hyphen would be read as an option, unless "--" stands before it.
    odd = any(file.startswith("-") and file != "-" for file in plan.files)
    files = list(map(shlex.quote, plan.files))
    return [*words, *more, "--", *files] if odd else [*files, *words, *more]


def _nonzero_costs(costs: Costs) -> Iterator[tuple[str, float]]:
    """Yield the costs of both errors, and the other costs that are not zero."""
    each = ((cell, getattr(costs, cell)) for cell in ("fp", "fn", "tp", "tn"))
    return ((cell, cost) for cell, cost in each if cost or cell in {"fp", "fn"})


def option_words(name: str, value: Any) -> Iterator[str]:  # noqa: ANN401  (any field)
    """Return an option with its value, quoted; several values repeat it, and None stands for an option without one.

    >>> [*option_words("half_width", 0.05), *option_words("score", ("a b", "-c")), *option_words("held_out", None)]
    ['--half-width', '0.05', '--score', "'a b'", '--score=-c', '--held-out']
    """
    flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
    if value is None:
        yield flag
        return
    for each in value if isinstance(value, tuple) else (value,):
        text = _quote_column(each) if name in ("score", "group") else _shell_text(each)
        # Click would take a value such as -c for an option; long options accept it after "=".
        joined = text.startswith("-") and flag.startswith("--")
        yield from [shlex.quote(f"{flag}={text}")] if joined else [flag, shlex.quote(text)]


def _quote_column(name: str) -> str:
    """Quote the name of a column as in CSV where an option would split it."""
    return '"{}"'.format(name.replace('"', '""')) if "," in name or '"' in name else name


def _shell_text(value: Any) -> str:  # noqa: ANN401  (any value of a field)
    """Return a value as a person types it in a shell; numbers at full precision."""
    if isinstance(value, float):
        return "inf" if isinf(value) and value > 0 else repr(float(value)).removesuffix(".0")
    if isinstance(value, Mapping):
        return ",".join(f"{name}={_shell_text(each)}" for name, each in value.items())
    return str(value)


_MAX_NEXT = 3
"""Commands under "Next"."""
_SINGLE_MODEL_FIELDS = tuple(name for name in READ_FIELDS if name not in {"predicted", "group"})
_INTERVAL = ("level", "method", "seed")
_USE = ("prevalence", "costs", "threshold", "rule", "policy", *_INTERVAL)
_GROUP_FIELDS = ("reference", "min_group")
_WORDS = ("ignore", "title", "outcome_name", "flag_name", "model_labels")
_FIELDS: dict[str, tuple[str, ...]] = {
    "report": (*READ_FIELDS, "id", "apart", *_USE, *_GROUP_FIELDS, *_WORDS),
    "decide": (*_SINGLE_MODEL_FIELDS, "prevalence", "costs", "threshold", "rule", *_INTERVAL),
    "equalize": (*_SINGLE_MODEL_FIELDS, "group", "prevalence", "costs", *_INTERVAL),
    "groups": (*READ_FIELDS, "threshold", "policy", "level", "seed", *_GROUP_FIELDS),
    "reliability": (*_SINGLE_MODEL_FIELDS, "level", "seed"),
    "calibrate": (*_SINGLE_MODEL_FIELDS, "level", "seed"),
    "shift": (*_SINGLE_MODEL_FIELDS, "predicted", "threshold", *_INTERVAL),
    "measure": (*_SINGLE_MODEL_FIELDS, "predicted", "threshold", *_INTERVAL),
    "curve roc": (*_SINGLE_MODEL_FIELDS, "predicted"),
    "draw pr": (*_SINGLE_MODEL_FIELDS, "predicted", "prevalence"),
    "draw roc": (*_SINGLE_MODEL_FIELDS, "predicted", "policy"),
    "size": ("level",),
}
"""Fields of a plan that each command accepts."""
_GROUP_PREVALENCE_VERBS = ("report", "equalize")
"""Commands that take a prevalence for each group."""
OPEN_THRESHOLD: Mapping[str, Any] = {"threshold": None, "rule": None, "policy": None, "policy_file": None}
"""Changes to a plan that leave the choice of a threshold open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command to suggest: its verb, fields of the plan that it changes, and options of its own."""

    verb: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def spell_step(report: Report, step: Step, model: str | None = None) -> Snippet | None:
    """Return the command of a step for one model, or for all of them; None where no command can express it.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=0.02)
    >>> spell_step(report, Step(verb="report", changes={"threshold": 0.4})).text
    'baserate.evaluate(truth, score, prevalence=0.02, threshold=0.4)'
    """
    plan = replace(report.plan if model is None else plan_of(report, model), **step.changes)
    plan = _with_usable_method(_with_overall_prevalence(report, plan, step.verb), step.verb)
    fields = _FIELDS[step.verb]
    if plan.files:
        if "policy" in fields and has_unsaved_policy(plan):
            return None
        return Snippet("sh", " ".join(_command_words(plan, step)))
    # A script reads only the columns that its function uses.
    idle: dict[str, Any] = {name: empty for name, empty in {"group": (), "id": None}.items() if name not in fields}
    if "group" in idle:
        idle["reference"] = None  # a plan without groups has no reference group
    script = _Script(report, replace(plan, **idle), model, step.options)
    return Snippet("python", _SCRIPTS[step.verb](script))


def _with_overall_prevalence(report: Report, plan: Plan, verb: str) -> Plan:
    """Return a plan with one overall prevalence, where a command takes no prevalences of groups."""
    by_group = isinstance(plan.prevalence, Mapping) and verb not in _GROUP_PREVALENCE_VERBS
    return replace(plan, prevalence=report.prevalence) if by_group else plan


def _with_usable_method(plan: Plan, verb: str) -> Plan:
    """Return a plan without a method of intervals that summaries of decisions refuse at its prevalence."""
    if verb != "decide" or plan.method in interval_methods(sensitivity, reweighed=plan.prevalence is not None):
        return plan
    return replace(plan, method=None)


def plan_of(report: Report, model: str) -> Plan:
    """Return the plan of one model by itself."""
    plan = report.plan
    labels = {name: label for name, label in (plan.model_labels or {}).items() if name == model}
    plan = replace(plan, model_labels=labels or None)
    if plan.apart:
        sample, score = sample_of(plan, model)
        files = {name: file for name, file in name_samples(plan.files).items() if name == sample}
        return replace(plan, apart=False, files=tuple(files.values()), score=score)
    if model == report.data["columns"].get("predicted"):
        return replace(plan, score=(), predicted=model)
    return replace(plan, score=model, predicted=None)


def sample_of(plan: Plan, model: str) -> tuple[str, str]:
    """Return the sample and the column of scores in the name of a model, where samples are separate."""
    if len(plan.score) == 1:
        return model, plan.score[0]
    # The longest suffix wins: a column may be called like the end of another one.
    score = max((each for each in plan.score if model.endswith(f": {each}")), key=len)
    return model.removesuffix(f": {score}"), score


def has_unsaved_policy(plan: Plan) -> bool:
    """Return whether a plan has a policy without a known file."""
    return plan.policy is not None and plan.policy_file is None


def unused_file_name(name: str, plan: Plan) -> str:
    """Return a name to write to that is none of the files of a plan.

    >>> plan = Plan(files="./people.csv", score="risk")
    >>> unused_file_name("policy.json", plan), unused_file_name("people.csv", plan)
    ('policy.json', 'people-2.csv')
    """
    used = {PurePath(file) for file in (*plan.files, *([plan.policy_file] if plan.policy_file else []))}
    path, at = PurePath(name), 1
    while path in used:
        at += 1
        path = PurePath(name).with_stem(f"{PurePath(name).stem}-{at}")
    return str(path)


def has_both_classes(report: Report, *, least: int = 1) -> bool:
    """Return whether every model has at least the given number of rows of both classes."""
    return smallest_class_size(report) >= least


def smallest_class_size(report: Report) -> int:
    """Return the number of rows of the smaller class, in the smallest of several samples."""
    rows = [row for name in ("positives", "negatives") for row in report.select(part="data", measure=name, group=None)]
    return int(min(row["value"] for row in rows))


def _command_words(plan: Plan, step: Step) -> list[str]:
    """Return the words of a shell command."""
    fields, options = _FIELDS[step.verb], dict(step.options)
    read = plan if "truth" in fields else replace(plan, files=())
    subject = [options.pop("measure")] if step.verb == "size" else []  # an argument, where others have files
    more = [word for name, value in options.items() for word in option_words(name, value)]
    return ["baserate", *step.verb.split(), *subject, *spell_words(read, fields, more)]


class _Script(NamedTuple):
    """Report, plan and options from which a Python statement is written."""

    report: Report
    plan: Plan
    model: str | None
    options: Mapping[str, Any]

    def call(self, function: str, arguments: Iterable[str] = (), keywords: Iterable[str] = ()) -> str:
        """Return the call of a function on the rows, in the form in which `evaluate` was called."""
        rows, columns = self._array_arguments() if self.has_arrays else self._table_arguments()
        return f"baserate.{function}({', '.join([*rows, *arguments, *columns, *self._labels(), *keywords])})"

    def keywords(self, *names: str) -> list[str]:
        """Return fields of the plan as keywords, where they differ from the defaults."""
        return [*_use_keywords(self.plan, names)]

    def own_keywords(self, *names: str) -> list[str]:
        """Return options of the step as keywords: those with these names, or all."""
        return [f"{name}={python_literal(each)}" for name, each in self.options.items() if not names or name in names]

    @property
    def has_arrays(self) -> bool:
        """Whether `evaluate` was called with arrays."""
        return self.report.data.get("arrays") is not None

    @property
    def table(self) -> str:
        """Expression for the table, or for that of the sample of the model."""
        if not self.report.plan.apart or self.model is None:
            return "table"
        return f"table[{python_literal(sample_of(self.report.plan, self.model)[0])}]"

    def _table_arguments(self) -> tuple[list[str], list[str]]:
        """Return the table, and names of its columns as keywords."""
        columns = self.plan.columns.items()
        return [self.table], [f"{role}={python_literal(_unpack_single(names))}" for role, names in columns]

    def _array_arguments(self) -> tuple[list[str], list[str]]:
        """Return labels and scores, and the other arrays as keywords."""
        arrays = self.array_expressions
        named = {role: self._array_of(role, names, arrays) for role, names in self.plan.columns.items()}
        first = [named.pop(role) for role in ("truth", "score") if role in named]
        return first, [f"{role}={each}" for role, each in named.items()]

    def _array_of(self, role: str, names: str | tuple[str, ...], arrays: Mapping[str, str]) -> str:
        """Return the expression of an argument of `evaluate`; several arrays of one kind stay one argument."""
        expression = arrays[names if isinstance(names, str) else names[0]]
        # evaluate(truth, scores) takes a mapping of several arrays as a whole, not its items.
        whole = self.model is None or (role == "group" and not isinstance(names, str))
        return expression.partition("[")[0] if whole else expression

    @property
    def array_expressions(self) -> Mapping[str, str]:
        """Column -> the argument of `evaluate` that holds it."""
        arrays: Mapping[str, Any] = self.report.data["arrays"]
        if not self.report.plan.apart:
            return arrays
        own: Mapping[str, str] = arrays[sample_of(self.report.plan, self.model or self.report.models[0])[0]]
        return own

    def _labels(self) -> Iterator[str]:
        """Yield how labels are read, as keywords."""
        for name in _LABEL_FIELDS:
            label = getattr(self.plan, name)
            if label is not None:
                yield f"{name}={self._label(label)}"
        yield from keyword_arguments(self.plan, ["missing"])

    def _label(self, label: object) -> str:
        """Return a label in the type that the rows have: a plan may hold its text alone."""
        if not isinstance(label, str):
            return python_literal(label)
        found = resolve_label(LabelText(label), [self.report.data[name] for name in _LABEL_FIELDS])
        plain = found.item() if isinstance(found, np.generic) else found
        if isinstance(plain, (str, int, float)):
            return python_literal(plain)
        return f"baserate.read.{LabelText.__name__}({python_literal(label)})"


def _use_keywords(plan: Plan, names: Iterable[str]) -> Iterator[str]:
    """Yield fields that differ from the defaults as keywords of functions: costs of errors as `fp` and `fn`."""
    for name in names:
        if name == "policy":
            # The user's variable, which is called like the argument that holds it.
            yield from [] if plan.policy is None else ["policy=policy"]
        elif name == "costs" and plan.costs is not None:
            costs = {cell: _shell_text(cost) for cell, cost in _nonzero_costs(plan.costs)}
            if costs.keys() == {"fp", "fn"}:
                yield from (f"{cell}={cost}" for cell, cost in costs.items())
            else:
                yield f"costs={{{', '.join(f'{python_literal(cell)}: {cost}' for cell, cost in costs.items())}}}"
        else:
            yield from keyword_arguments(plan, [name])


def _unpack_single(names: str | tuple[str, ...]) -> str | tuple[str, ...]:
    """Return the only name of several, or all."""
    return names[0] if len(names) == 1 else names


def _report_script(script: _Script) -> str:
    """Return the statement that makes the report again."""
    options = (*_USE, *_GROUP_FIELDS, *_WORDS)
    if not script.plan.apart or script.has_arrays:
        return script.call("evaluate", keywords=script.keywords(*options))
    plan = keyword_arguments(
        script.plan, (*READ_FIELDS, "id", "apart", *(name for name in options if name != "policy"))
    )
    policy = script.keywords("policy")
    return f"baserate.run(baserate.Plan({', '.join([*plan, *policy])}), {script.table})"


def _decide_script(script: _Script) -> str:
    """Return the statement that chooses a threshold."""
    rule = "require" if "require" in script.options else script.plan.chooses or "youden"
    keywords = [*script.own_keywords(), *script.keywords("prevalence", "costs", *_INTERVAL)]
    return script.call("decide.summary", [python_literal(rule)], keywords)


def _equalize_script(script: _Script) -> str:
    """Return the statement that cross-validates thresholds of groups."""
    parity = python_literal(_unpack_single(script.options["parity"]))
    settings = [*script.own_keywords("within"), *keyword_arguments(script.plan, ["costs", "prevalence"])]
    goal = f"baserate.fairness.Goal({', '.join([parity, *settings])})"
    return script.call("fairness.cross_validate", [goal], script.keywords(*_INTERVAL))


def _groups_script(script: _Script) -> str:
    """Return the statement that compares groups."""
    if "multicalibration" in script.options:
        return script.call("fairness.multicalibration", keywords=script.keywords("level", "seed", "min_group"))
    policy = script.keywords("policy")
    if script.plan.threshold is not None:
        policy = [f"policy={python_literal(script.plan.threshold)}"]
    return script.call("fairness.compare_groups", keywords=[*policy, *script.keywords(*_INTERVAL, *_GROUP_FIELDS)])


def _shift_script(script: _Script) -> str:
    """Return the statement that adjusts measures to another prevalence."""
    return script.call(
        "shift.summary", keywords=[*script.own_keywords("prevalence"), *script.keywords("threshold", *_INTERVAL)]
    )


def _measure_script(script: _Script) -> str:
    """Return the statement that measures decisions, perhaps with clusters of rows."""
    cluster = script.options.get("cluster")
    column = [] if cluster is None else [f"cluster={python_literal(cluster)}"]
    if cluster is not None and script.has_arrays:
        column = [f"cluster={script.array_expressions[cluster]}"]
    return script.call("infer.summary", keywords=[*column, *script.keywords("threshold", *_INTERVAL)])


def _calibrate_script(script: _Script) -> str:
    """Return the statement that fits a calibrator and saves it."""
    method = script.options.get("with", "choose")
    return f"{script.call('calibrate', [python_literal(method)])}.save({python_literal(script.options['output'])})"


def _curve_script(script: _Script) -> str:
    """Return the statement that tabulates the ROC curve."""
    return script.call("measure.curves", ['"roc"'])


def _draw_script(script: _Script) -> str:
    """Return the statement that draws a precision–recall curve and saves it."""
    figure = script.call("draw.pr", keywords=script.keywords("prevalence"))
    return f"{figure}.save({python_literal(script.options['output'])})"


def _size_script(script: _Script) -> str:
    """Return the statement of a sample-size calculation."""
    options = dict(script.options)
    measure = options.pop("measure")
    expect, width = (python_literal(options.pop(name)) for name in ("expect", "half_width"))
    more = [*script.own_keywords(*options), *script.keywords("level")]
    if measure == "auc":
        return f"baserate.infer.sample_size_for_auc({', '.join([expect, width, *more])})"
    arguments = [python_literal(measure), expect, width, *more]
    return f"baserate.infer.sample_size_for_proportion({', '.join(arguments)})"


_SCRIPTS: dict[str, Callable[[_Script], str]] = {
    "report": _report_script,
    "decide": _decide_script,
    "equalize": _equalize_script,
    "groups": _groups_script,
    "shift": _shift_script,
    "measure": _measure_script,
    "calibrate": _calibrate_script,
    "curve roc": _curve_script,
    "draw pr": _draw_script,
    "size": _size_script,
}


def next_commands(report: Report) -> CommandList:
    """Return the next commands to try: for a shell, or in Python where the rows are in memory."""
    commands = tuple(_next_shell_commands(report))[:_MAX_NEXT] if report.plan.files else ()
    if not commands:
        return CommandList("Next, in Python", "python", tuple(_next_python_commands(report)))
    return CommandList("Next", "sh", commands)


def _next_shell_commands(report: Report) -> Iterator[Command]:
    """Yield commands that fit the plan, for the first model; only `report` reads several separate samples."""
    plan = report.plan
    if plan.score and not plan.apart:
        single = plan_of(report, plan.score[0])
        for why, step in _next_steps(report):
            yield Command(why, tuple(_command_words(_with_overall_prevalence(report, single, step.verb), step)))
    if not has_unsaved_policy(plan):
        save_step = Step(verb="report", options={"save_json": unused_file_name("report.json", plan)})
        yield Command("save the whole report", tuple(_command_words(plan, save_step)))


def _next_steps(report: Report) -> Iterator[tuple[str, Step]]:
    """Yield the purpose of each next step, and the step."""
    plan = report.plan
    if not has_both_classes(report):
        return
    if plan.policy is None:
        output = {"output": unused_file_name("policy.json", plan)}
        yield "choose the threshold, and save it as a policy", Step(verb="decide", options=output)
    groups = [row for row in report.select(part="data", measure="positives") if row["group"] is not None]
    if groups and all(row["value"] for row in groups):  # without positives there is no sensitivity
        parity = {"parity": "equal-opportunity", "output": unused_file_name("by-group.json", plan)}
        yield "choose group thresholds with equal sensitivity", Step(verb="equalize", options=parity)
    if _is_miscalibrated(report):
        yield "list calibration by bins of probability", Step(verb="reliability")
    yield "draw the ROC curve", Step(verb="draw roc", options={"output": unused_file_name("roc.svg", plan)})


def _is_miscalibrated(report: Report) -> bool:
    """Return whether the calibration error of some model exceeds that of perfectly calibrated models of this size."""
    rows = report.select(measure="ece", where="here")
    return any(row["value"] > row["floor_high"] for row in rows if row["value"] is not None)


def _next_python_commands(report: Report) -> Iterator[Command]:
    """Yield statements that use the report further."""
    first = python_literal(report.models[0])
    of, policy = ("", "policy") if len(report.models) == 1 else (f".of({first})", f"policies[{first}]")
    yield Command("a number with its confidence interval", (f"print(report{of}.there.ppv)",))
    yield Command("all numbers as a table", ("report.frame()",))
    apply = _apply_statement(report, f"report.{policy}")
    if apply is not None:
        yield Command("decide new rows", (apply,))
    yield Command("save a page to explore and share", ('report.save("report.html")',))


def _apply_statement(report: Report, policy: str) -> str | None:
    """Return the statement that applies the policy of the first model to new rows; None for predicted labels."""
    plan, model = report.plan, report.models[0]
    decision = report.policies[model]
    if model == report.data["columns"].get("predicted"):
        return None
    if report.data.get("arrays") is not None:
        needed = {"group": decision.needs_group, "id": decision.needs_id}
        more = [f"{name}=new_{name}" for name, is_needed in needed.items() if is_needed]
        return f"baserate.apply.actions({', '.join([policy, 'new_score', *more])}).text"
    columns = {"score": sample_of(plan, model)[1] if plan.apart else model}
    if decision.needs_id and plan.id is not None:
        columns["id"] = plan.id
    # A policy that was chosen on these rows stores the names of their columns.
    unstored = {name: each for name, each in columns.items() if decision.columns.get(name) != each}
    more = [f"{name}={python_literal(each)}" for name, each in unstored.items()]
    return f"baserate.apply.frame({', '.join([policy, 'new_rows', *more])})"

"""Steps that a report suggests, as complete commands for a shell, or as Python where the rows are in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from baserate.report._gather import samples_of
from baserate.report._plan import Plan
from baserate.report._shell import READ, keywords, literal, option, spell_words
from baserate.text import Command, CommandList

if TYPE_CHECKING:
    from baserate.report._report import Report

_MOST = 3
"""Commands under "Next"."""
_OF_ONE = tuple(name for name in READ if name not in {"predicted", "group"})
_INTERVAL = ("level", "method", "seed")
_FIELDS: dict[str, tuple[str, ...]] = {
    "report": (*READ, "id", "apart", "prevalence", "costs", "threshold", "rule", "policy", *_INTERVAL),
    "decide": (*_OF_ONE, "prevalence", "costs", "threshold", "rule", *_INTERVAL),
    "equalize": (*_OF_ONE, "group", "prevalence", "costs", *_INTERVAL),
    "groups": (*READ, "threshold", "policy", "level", "seed"),
    "reliability": (*_OF_ONE, "level", "seed"),
    "calibrate": (*_OF_ONE, "level", "seed"),
    "shift": (*_OF_ONE, "predicted", "threshold", *_INTERVAL),
    "measure": (*_OF_ONE, "predicted", "threshold", *_INTERVAL),
    "curve roc": (*_OF_ONE, "predicted"),
    "draw pr": (*_OF_ONE, "predicted", "prevalence"),
    "draw roc": (*_OF_ONE, "predicted", "policy"),
    "size": ("level",),
}
"""What each command takes of a plan."""
_BY_GROUP = ("report", "equalize")
"""Commands that take a prevalence for each group."""
FREE: Mapping[str, Any] = {"threshold": None, "rule": None, "policy": None, "policy_file": None}
"""Changes to a plan that leave the choice of a threshold open."""


class Snippet(NamedTuple):
    """Text to copy, complete: one command of a shell, or statements of Python."""

    language: Literal["sh", "python"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command to suggest: its verb, fields of the plan that it changes, and options of its own."""

    verb: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def spell_step(report: Report, step: Step, model: str | None = None) -> Snippet | None:
    """Return a step as it is typed for one model, or for all of them; None where it cannot be typed.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=0.02)
    >>> spell_step(report, Step(verb="report", changes={"threshold": 0.4})).text
    'baserate.evaluate(truth, score, prevalence=0.02, threshold=0.4)'
    """
    plan = replace(report.plan if model is None else plan_of(report, model), **step.changes)
    plan = _with_known_prevalence(report, plan, step.verb)
    fields = _FIELDS[step.verb]
    if plan.files:
        if "policy" in fields and is_unnamed(plan):
            return None
        return Snippet("sh", " ".join(_words(plan, step)))
    idle: dict[str, Any] = {name: empty for name, empty in {"group": (), "id": None}.items() if name not in fields}
    script = _Script(report, replace(plan, **idle), model, step.options)
    return Snippet("python", "\n".join(_PYTHON[step.verb](script)))


def _with_known_prevalence(report: Report, plan: Plan, verb: str) -> Plan:
    """Return a plan with one prevalence of everybody, where a command knows none of groups."""
    by_group = isinstance(plan.prevalence, Mapping) and verb not in _BY_GROUP
    return replace(plan, prevalence=report.prevalence) if by_group else plan


def plan_of(report: Report, model: str) -> Plan:
    """Return the plan of one model by itself."""
    plan = report.plan
    if plan.apart:
        sample, score = sample_of(plan, model)
        files = {name: file for name, file in samples_of(plan.files).items() if name == sample}
        return replace(plan, apart=False, files=tuple(files.values()), score=score)
    if model == report.data["columns"].get("predicted"):
        return replace(plan, score=(), predicted=model)
    return replace(plan, score=model, predicted=None)


def sample_of(plan: Plan, model: str) -> tuple[str, str]:
    """Return the sample and the column of scores behind the name of a model, where samples are judged apart."""
    if len(plan.score) == 1:
        return model, plan.score[0]
    score = max((each for each in plan.score if model.endswith(f": {each}")), key=len)
    return model.removesuffix(f": {score}"), score


def is_unnamed(plan: Plan) -> bool:
    """Whether a plan has a policy that no file is known to hold."""
    return plan.policy is not None and plan.policy_file is None


def free_name(name: str, plan: Plan) -> str:
    """Return a name to write to that is none of the files of a plan.

    >>> plan = Plan(files="./people.csv", score="risk")
    >>> free_name("policy.json", plan), free_name("people.csv", plan)
    ('policy.json', 'people-2.csv')
    """
    taken = {PurePath(file) for file in (*plan.files, *([plan.policy_file] if plan.policy_file else []))}
    path, at = PurePath(name), 1
    while path in taken:
        at += 1
        path = PurePath(name).with_stem(f"{PurePath(name).stem}-{at}")
    return str(path)


def has_both_classes(report: Report, *, least: int = 1) -> bool:
    """Whether every model has rows of both classes, at least so many of each."""
    return fewest_rows(report) >= least


def fewest_rows(report: Report) -> int:
    """Return how many rows the smaller class has, in the smallest of several samples."""
    rows = [row for name in ("positives", "negatives") for row in report.pick(part="data", measure=name, group=None)]
    return int(min(row["value"] for row in rows))


def _words(plan: Plan, step: Step) -> list[str]:
    fields, options = _FIELDS[step.verb], dict(step.options)
    read = plan if "truth" in fields else replace(plan, files=())
    subject = [options.pop("measure")] if step.verb == "size" else []  # an argument, where others have files
    more = [word for name, value in options.items() for word in option(name, value)]
    return ["baserate", *step.verb.split(), *subject, *spell_words(read, fields, more)]


class _Script(NamedTuple):
    """What statements of Python are made from."""

    report: Report
    plan: Plan
    model: str | None
    options: Mapping[str, Any]

    @property
    def table(self) -> str:
        """The rows: a mapping of what was handed to `evaluate`, or the table that was handed to `run`."""
        arrays = self._arrays
        if arrays is None:
            apart = self.report.plan.apart and self.model is not None
            return f"table[{literal(sample_of(self.report.plan, str(self.model))[0])}]" if apart else "table"
        every = [name for each in self.plan.columns.values() for name in ([each] if isinstance(each, str) else each)]
        return f"{{{', '.join(f'{literal(name)}: {arrays[name]}' for name in dict.fromkeys(every))}}}"

    @property
    def _arrays(self) -> Mapping[str, str] | None:
        """Column -> the argument of `evaluate` that holds it."""
        arrays = self.report.data.get("arrays")
        if arrays is None or not self.report.plan.apart:
            return arrays
        own: Mapping[str, str] = arrays[sample_of(self.report.plan, self.model or self.report.models[0])[0]]
        return own

    def read(self, how: str, **more: str) -> str:
        """Return the expression that reads the columns of the plan."""
        told = (*keywords(self.plan, READ, spelled=True), *(f"{name}={literal(each)}" for name, each in more.items()))
        return f"baserate.read.{how}({', '.join([self.table, *told])})"

    def keywords(self, *names: str) -> list[str]:
        """Fields of the plan as keywords, where they are not as usual."""
        return [*keywords(self.plan, names)]

    def interval(self) -> list[str]:
        """How intervals are made, as a keyword, where it is not as usual."""
        told = self.keywords(*_INTERVAL)
        return [f"interval=baserate.infer.Interval({', '.join(told)})"] if told else []

    def evaluated(self) -> str:
        """Return the call that makes the report again."""
        use = self.keywords("prevalence", "costs", "threshold", "rule", *_INTERVAL)
        policy = [] if self.plan.policy is None else [f"policy={self.policy}"]
        arrays = self._arrays
        if arrays is None:
            plan = self.keywords(*READ, "id", "apart")
            return f"baserate.run(baserate.Plan({', '.join([*plan, *use, *policy])}), {self.table})"
        given = self._given(arrays)
        labels = self.keywords("positive", "negative", "missing")
        return f"baserate.evaluate({', '.join([*given, *labels, *use, *policy])})"

    def _given(self, arrays: Mapping[str, str]) -> Iterator[str]:
        """Arrays as `evaluate` takes them; several of one kind are handed over as they were."""
        whole = self.model is None
        for name in ("truth", "score", "group", "predicted", "weight", "count", "id"):
            columns = self.plan.columns.get(name)
            if columns is None:
                continue
            first = columns if isinstance(columns, str) else columns[0]
            expression = arrays[first]
            if whole or (name == "group" and not isinstance(columns, str)):
                expression = expression.partition("[")[0]
            yield expression if name in {"truth", "score"} else f"{name}={expression}"

    @property
    def policy(self) -> str:
        """The policy, by the name of what was handed over."""
        return "plan.policy" if self.report.data.get("arrays") is None else "policy"


def _report(script: _Script) -> Iterator[str]:
    yield script.evaluated()


def _decide(script: _Script) -> Iterator[str]:
    plan, options = script.plan, dict(script.options)
    folds = options.pop("folds", None)
    rule, given = (plan.chooses or "youden").replace("-", "_"), {}
    if plan.chooses == "cost":
        given = {"costs": plan.costs}
    if "require" in options:
        rule, given = "require", options
    told = f"baserate.decide.{rule}"
    if given:
        yield "from functools import partial"
        told = f"partial({told}, {', '.join(f'{name}={literal(each)}' for name, each in given.items())})"
    yield f"tallies = {script.read('tallies')}"
    if plan.prevalence is not None:
        yield f"tallies = baserate.shift.reweigh(tallies, to={literal(plan.prevalence)})"
    more = [] if folds is None else [f"draws=baserate.decide.Trial(folds={folds})"]
    arguments = ["tallies", told, *script.keywords("costs"), *more, *script.interval()]
    yield f"baserate.decide.summary({', '.join(arguments)})"


def _equalize(script: _Script) -> Iterator[str]:
    yield f"tallies = {script.read('tallies')}"
    options = script.options
    within = [f"within={literal(options['within'])}"] if "within" in options else []
    goal = ", ".join([literal(options["parity"]), *within, *script.keywords("costs", "prevalence")])
    yield f"goal = baserate.equalize.Goal({goal})"
    yield f"baserate.equalize.held_out({', '.join(['tallies', 'goal', *script.interval()])})"


def _groups(script: _Script) -> Iterator[str]:
    yield f"tallies = {script.read('tallies')}"
    decided = [f"decided={script.policy}"] if script.plan.policy is not None else []
    if script.plan.threshold is not None:
        decided = [f"decided={literal(script.plan.threshold)}"]
    yield f"baserate.equalize.groups({', '.join(['tallies', *decided, *script.interval()])})"


def _shift(script: _Script) -> Iterator[str]:
    yield f"tallies = {script.read('tallies')}"
    told = [f"to={literal(script.options['to'])}", *script.keywords("threshold"), *script.interval()]
    yield f"baserate.shift.summary(tallies, {', '.join(told)})"


def _measure(script: _Script) -> Iterator[str]:
    cluster = script.options.get("cluster")
    with_cluster = script._replace(plan=replace(script.plan, id=cluster))  # among the columns that are handed over
    yield f"rows = {with_cluster.read('rows', cluster=cluster) if cluster else script.read('tallies')}"
    yield f"baserate.infer.summary({', '.join(['rows', *script.keywords('threshold'), *script.interval()])})"


def _calibrate(script: _Script) -> Iterator[str]:
    yield f"tallies = {script.read('tallies')}"
    name = literal(script.options["output"])
    if "with" in script.options:
        yield f"baserate.calibrate.fit(tallies, {literal(script.options['with'])}).save({name})"
    else:
        yield f"baserate.calibrate.choose(tallies).map.save({name})"


def _curve(script: _Script) -> Iterator[str]:
    yield f"tallies = {script.read('tallies')}"
    model = (script.plan.score or (script.plan.predicted,))[0]
    yield f'baserate.measure.table(baserate.curve(tallies.pooled({literal(model)})), "fpr", "sensitivity")'


def _draw(script: _Script, *, figure: str) -> Iterator[str]:
    yield f"tallies = {script.read('tallies')}"
    told = ", ".join(["tallies", *(script.keywords("prevalence") if figure == "pr" else [])])
    yield f"baserate.draw.{figure}({told}).save({literal(script.options['output'])})"


def _size(script: _Script) -> Iterator[str]:
    options = dict(script.options)
    measure, expect, width = (options.pop(name) for name in ("measure", "expect", "half_width"))
    told = ", ".join([f"{name}={literal(each)}" for name, each in options.items()] + script.keywords("level"))
    if measure == "auc":
        yield f"baserate.infer.size_of_auc({literal(expect)}, {literal(width)}, {told})"
    else:
        yield f"baserate.infer.size_of_share({literal(measure)}, {literal(expect)}, {literal(width)}, {told})"


_PYTHON: dict[str, Callable[[_Script], Iterator[str]]] = {
    "report": _report,
    "decide": _decide,
    "equalize": _equalize,
    "groups": _groups,
    "shift": _shift,
    "measure": _measure,
    "calibrate": _calibrate,
    "curve roc": _curve,
    "draw pr": lambda script: _draw(script, figure="pr"),
    "size": _size,
}


def ahead(report: Report) -> CommandList:
    """Return what one may do next: commands for a shell, or Python where rows were handed over."""
    typed = tuple(_next_commands(report))[:_MOST] if report.plan.files else ()
    if not typed:
        return CommandList("Next, in Python", "python", tuple(_next_python(report)))
    return CommandList("Next", "sh", typed)


def _next_commands(report: Report) -> Iterator[Command]:
    """Commands that fit the plan, of the first model; samples that are judged apart are not put together by others."""
    plan = report.plan
    if plan.score and not plan.apart:
        alone = plan_of(report, plan.score[0])
        for why, step in _next_steps(report):
            yield Command(why, tuple(_words(_with_known_prevalence(report, alone, step.verb), step)))
    if not is_unnamed(plan):
        kept = Step(verb="report", options={"save_json": free_name("report.json", plan)})
        yield Command("keep the whole report", tuple(_words(plan, kept)))


def _next_steps(report: Report) -> Iterator[tuple[str, Step]]:
    """What for, and the step."""
    plan = report.plan
    if not has_both_classes(report):
        return
    if plan.policy is None:
        output = {"output": free_name("policy.json", plan)}
        yield "choose the threshold, and save it as a policy", Step(verb="decide", options=output)
    groups = [row for row in report.pick(part="data", measure="positives") if row["group"] is not None]
    if groups and all(row["value"] for row in groups):  # without positives there is no sensitivity
        parity = {"parity": "equal-opportunity", "output": free_name("by-group.json", plan)}
        yield "choose group thresholds with equal sensitivity", Step(verb="equalize", options=parity)
    if _is_off(report):
        yield "see where probabilities are miscalibrated", Step(verb="reliability")
    yield "draw the ROC curve", Step(verb="draw roc", options={"output": free_name("roc.svg", plan)})


def _is_off(report: Report) -> bool:
    """Whether probabilities of some model are further off than a perfect model of this size would be."""
    rows = report.pick(measure="ece", where="here")
    return any(row["value"] > row["floor_high"] for row in rows if row["value"] is not None)


def _next_python(report: Report) -> Iterator[Command]:
    first = report.models[0]
    of, policy = ("", "policy") if len(report.models) == 1 else (f".of({first!r})", f"policies[{first!r}]")
    yield Command("a number with its confidence interval", (f"report{of}.there.precision",))
    yield Command("all numbers", ("report.frame()",))
    yield Command("save the policy, to decide new rows by it", (f'report.{policy}.save("policy.json")',))
    yield Command("keep the whole report", ('report.save("report.json")',))

"""Tidy fronts, likelihood ratios and weights -> pages."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from baserate._formatting import format_count, format_exact, format_level, format_number
from baserate._results import Results
from baserate.cli._ask import headline
from baserate.cli._calibration import split_when_narrow
from baserate.cli._decision_curve import model_of
from baserate.cli._options import Reading
from baserate.text import Cell, Footnotes, IntervalCell, Page, Row, Section, Table, estimate_cell, shorten_label

Line = Mapping[str, Any]

FEW = 20
"""Vertices of a front, or pools of a score, that a person wants to read."""
_ENDS = ("none", "all")
_NUMBERS = {"fpr": "FPR", "tpr": "TPR", "cost": "per case", "chance": "chance"}
_RANGES = {"slope": "slope", "ratio": "cost ratio", "prevalence": "prevalence"}
_RATES = {"fpr": "false positive rate", "tpr": "true positive rate"}
_BELOW = {"gap": "gap", "factor": "factor", "area": "area"}
_TURNED = {"auc": "AUC", "reversed_auc": "AUC reversed", "fpr": "FPR reversed", "tpr": "TPR reversed"}


def left_out(found: Results) -> Iterator[str]:
    """Say that a table to read does not hold all, if so."""
    lines = found.rows()
    if "classifier" in found.columns:
        every = len(_vertices(lines))
        shown = len(_few_vertices(lines))
        if shown < every:
            yield f"{shown} of {every} vertices are shown; --format csv has all."
    if "upper" in found.columns:
        longest = max(map(len, _by_model(lines).values()))
        if longest > FEW:
            yield f"at most {FEW} ranges of each score are shown; --format csv has all, up to {longest}."


def page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay out a front: who is ever the best, who never is, and who would be better reversed."""
    lines, reasons = found.rows(), Footnotes()
    numbers = [name for name in _NUMBERS if name in found.columns]
    ranges = [name for name in _RANGES if f"{name}_from" in found.columns]
    heads = ("threshold", *(_NUMBERS[name] for name in numbers), *(_RANGES[name] for name in ranges))
    rows = [Row(_name(line), tuple(_cells(line, numbers, ranges, digits))) for line in _few_vertices(lines)]
    panels: list[Table | str] = [*_sentences(found, digits)]
    panels += [split_when_narrow(Table("ever the best", heads, (Section("", tuple(rows)),)))]
    panels += [*_never(found, reasons, digits), *_below_diagonal(found.data, digits)]
    return Page(headline(asked, found.data), tuple(panels), (*reasons.footnotes(), *_meant(found, digits)))


def _cells(line: Line, numbers: Sequence[str], ranges: Sequence[str], digits: int) -> Iterator[Cell]:
    yield "" if line["threshold"] is None else format_exact(line["threshold"])
    yield from (format_number(line[name], digits) for name in numbers)
    for name in ranges:
        yield IntervalCell("", *(format_number(line[f"{name}_{end}"], digits) for end in ("from", "to")))


def _vertices(lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if line["fpr"] is not None]


def _few_vertices(lines: Sequence[Line]) -> list[Line]:
    """Vertices to read, spread evenly along the front; each model that is at some of them is at one of these."""
    every = _vertices(lines)
    first: dict[str | None, int] = {None: 0}
    for at, line in enumerate(every):
        for name in (line["classifier"], line["others"]):
            first.setdefault(name, at)
    kept = {*_spread([[line[name] for line in every] for name in ("fpr", "tpr")]), *first.values()}
    return [line for at, line in enumerate(every) if at in kept]


def _spread(columns: Sequence[Sequence[float]]) -> list[int]:
    import numpy as np

    from baserate.measure import spread

    found: list[int] = spread([np.array(column) for column in columns], FEW).tolist()
    return found


def _name(line: Line) -> str:
    """Name of a vertex, with those of others that are there."""
    own = shorten_label(line["classifier"]) + (" (reversed)" if line["reversed"] else "")
    return f"{own}, {shorten_label(line['others'])}" if line["others"] else own


def _sentences(found: Results, digits: int) -> Iterator[str]:
    """What is best at the costs and the prevalence, and how to reach a rate."""
    at = found.data.get("at", {})
    if "best" in at:
        yield (
            f"Cheapest at a prevalence of {format_exact(at['prevalence'])} and costs of {_costs(at)}: "
            f"{deed(at['best'])}. "
            f"A case costs {format_number(at['cost'], digits)} on average; the slope there is "
            f"{format_number(at['slope'], digits)}."
        )
    if "hybrid" in found.data:
        yield mixture(found.data["hybrid"], digits)


def _costs(at: Line) -> str:
    return ", ".join(f"{name} {format_exact(at[name])}" for name in ("fp", "fn", "tp", "tn"))


def deed(vertex: Line) -> str:
    """What is done at a vertex, in words.

    >>> deed({"classifier": "risk", "threshold": 0.5, "reversed": True}), deed({"classifier": "all"})
    ('flag risk < 0.5', 'flag everything')
    """
    if vertex["classifier"] in _ENDS:
        return "flag nothing" if vertex["classifier"] == "none" else "flag everything"
    name = shorten_label(vertex["classifier"])
    if vertex["threshold"] is None:
        return f"flag what {name} {'passes' if vertex['reversed'] else 'flags'}"
    return f"flag {name} {'<' if vertex['reversed'] else '≥'} {format_exact(vertex['threshold'])}"


def mixture(hybrid: Line, digits: int) -> str:
    """How to reach a rate, in words."""
    wanted = hybrid["wanted"]
    other = next(name for name in _RATES if name != wanted)
    reached = (
        f"A {_RATES[wanted]} of {format_number(hybrid[wanted], digits)}, with a {_RATES[other]} of "
        f"{format_number(hybrid[other], digits)}"
    )
    cost = f" A case costs {format_number(hybrid['cost'], digits)} on average." if "cost" in hybrid else ""
    chance = hybrid["chance"]
    if chance in (0, 1):
        return f"{reached}: {deed(hybrid['lax' if chance else 'strict'])}.{cost}"
    lots = f"draw lots for each case: in {format_number(100 * chance, digits)} % {deed(hybrid['lax'])}"
    return f"{reached}: {lots}, otherwise {deed(hybrid['strict'])}.{cost}"


def _never(found: Results, reasons: Footnotes, digits: int) -> Iterator[Table | str]:
    below = [line for line in found.rows() if line["fpr"] is None]
    columns = found.data["columns"]
    if not below:
        if len(columns.get("score", ())) + ("predicted" in columns) > 1:
            yield "Each model is among the best somewhere."
        return

    def shown(line: Line, name: str) -> str:
        if line[name] is None:
            return reasons.undefined("all scores are equal, so that they can only flag nothing or everything")
        return format_number(line[name], digits)

    rows = tuple(Row(shorten_label(line["classifier"]), tuple(shown(line, name) for name in _BELOW)) for line in below)
    yield split_when_narrow(Table("never the best", tuple(_BELOW.values()), (Section("", rows),)))


def _below_diagonal(data: Line, digits: int) -> Iterator[Table]:
    heads = {name: head for name, head in _TURNED.items() if any(each[name] is not None for each in data["reversible"])}
    rows = tuple(
        Row(
            shorten_label(each["classifier"]),
            tuple("" if each[name] is None else format_number(each[name], digits) for name in heads),
        )
        for each in data["reversible"]
    )
    if rows:
        yield split_when_narrow(Table("below the diagonal", tuple(heads.values()), (Section("", rows),)))


def _meant(found: Results, digits: int) -> Iterator[str]:
    data, at = found.data, found.data.get("at", {})
    yield f"none, all: flag nothing, flag everything. Area under the front: {format_number(data['auc'], digits)}"
    yield (
        "slope: what false alarms cost times the share of negatives, over what misses cost times that of positives; a "
        "row is the best below the first slope and from the second on"
    )
    if "ratio_from" in found.columns:
        there = f"at a prevalence of {format_exact(at['prevalence'])}"
        yield f"cost ratio: so many false alarms cost as much as a miss, {there}; above the first and up to the second"
    if "prevalence_from" in found.columns:
        yield f"prevalence: at costs of {_costs(at)}; above the first and up to the second"
    if "cost" in found.columns:
        yield "per case: mean cost at these costs and that prevalence"
    if "chance" in found.columns:
        yield "chance: of using a row in the mixture"
    yield from _below_meant(found)


def _below_meant(found: Results) -> Iterator[str]:
    if any(line["fpr"] is None for line in found.rows()):
        yield (
            "gap: how much higher the TPR of the front is at the same FPR; factor: how many times as dear as the best "
            "it is; both at the threshold and the slope that are kindest to it"
        )
        yield "area: how much larger the area under the front is than that of the model alone"
    if found.data["reversible"]:
        how = "it takes part reversed, too" if found.data["reverse"] else "--reverse lets it take part so"
        yield f"below the diagonal: better with what it passes flagged; {how}"


def ratios_page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay out likelihood ratios, a section for each model."""
    reasons, sections = Footnotes(), []
    for lines in _by_model(found.rows()).values():
        rows = tuple(Row(_range(line), tuple(_pool(line, reasons, digits))) for line in _few_pools(lines))
        sections.append(Section(model_of(lines[0], found), rows))
    heads = ("positives", "negatives", "likelihood ratio", "posterior")
    panel = split_when_narrow(Table("scores", heads, tuple(sections)))
    return Page(headline(asked, found.data), (panel,), (*reasons.footnotes(), *_ratios_meant(found)))


def _by_model(lines: Sequence[Line]) -> dict[str | None, list[Line]]:
    found: dict[str | None, list[Line]] = {}
    for line in lines:
        found.setdefault(line["model"], []).append(line)
    return found


def _few_pools(lines: Sequence[Line]) -> list[Line]:
    along = []
    for name in ("positives", "negatives"):
        running = list(accumulate(line[name] for line in lines))
        along.append([each / running[-1] for each in running])
    return [lines[at] for at in _spread(along)]


def _range(line: Line) -> str:
    low, high = format_exact(line["lower"]), format_exact(line["upper"])
    return low if low == high else f"{low} – {high}"


def _pool(line: Line, reasons: Footnotes, digits: int) -> Iterator[Cell]:
    yield from (format_count(line[name], digits) for name in ("positives", "negatives"))
    yield estimate_cell({**line, "value": line["ratio"], "why": None}, reasons, digits=digits, several=True)
    yield format_number(line["posterior"], digits)


def _ratios_meant(found: Results) -> Iterator[str]:
    at = found.data.get("at")
    where = f"a prevalence of {format_exact(at['prevalence'])}" if at else "the prevalence of the rows"
    yield "likelihood ratio: how many times as frequent such scores are among positives as among negatives"
    yield f"posterior: share of positives among such scores, at {where}"
    sure = format_level(found.data["level"])
    yield (
        f"{sure} % intervals: of a ratio of shares on a logarithmic scale, as if the ranges had been fixed "
        "beforehand. They were chosen so that ratios fall; the first tend to be too high, the last too low."
    )


def combined_page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay out the best weights of two scores."""
    (line,) = found.rows()
    reasons = Footnotes()
    both = weighted(line, digits)
    held_out = reasons.undefined(line["why"]) if line["held_out"] is None else format_number(line["held_out"], digits)
    rows = (
        Row(f"{shorten_label(line['first'])} alone", (format_number(line["first_auc"], digits),)),
        Row(f"{shorten_label(line['second'])} alone", (format_number(line["second_auc"], digits),)),
        Row("both, on these rows", (format_number(line["auc"], digits),), "Too high: the weights were chosen on them."),
        Row("both, held out", (held_out,), "Mean over folds that had no part in the choice of their weights."),
    )
    exact = "No weights give a higher AUC on these rows."
    tried = "There are too many pairs to compare them all, so this is the best of the weights that were tried."
    told = f"Rank by {both}. {exact if line['exact'] else tried}"
    panel = split_when_narrow(Table("AUC", ("",), (Section("", rows),)))
    return Page(headline(asked, found.data), (told, panel), reasons.footnotes())


def weighted(line: Line, digits: int) -> str:
    """The weighted sum, as one writes it.

    >>> weighted({"first": "a", "first_weight": -1.0, "second": "b", "second_weight": 0.373}, 2)
    '−a + 0.37·b'
    """
    parts: list[str] = []
    for which in ("first", "second"):
        weight = line[f"{which}_weight"]
        if weight == 0:
            continue
        size = "" if abs(weight) == 1 else f"{format_number(abs(weight), digits)}·"
        sign = ("− " if weight < 0 else "+ ") if parts else ("−" if weight < 0 else "")
        parts.append(f"{sign}{size}{shorten_label(line[which])}")
    return " ".join(parts)

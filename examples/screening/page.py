"""The page that the screening example leaves: seven tables and six figures, in one file without scripts."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import NamedTuple

import numpy as np

import baserate
from baserate import Costs, Estimate, Tally, decide, equalize, infer, measure, shift

Number = Estimate | float
Table = Mapping[str, Mapping[str, Number]]

# Okabe and Ito's colours, which colour-blind readers can tell apart, and a dash pattern for each besides.
STYLES = (("#000000", ""), ("#0072b2", "7 3"), ("#d55e00", "2 3"), ("#009e73", "9 3 2 3"))
SIZE, LEFT, TOP = 300, 54, 12
CSS = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { line-height: 1.2; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid #ddd; }
tbody th, td { vertical-align: top; } td small { display: block; color: #555; line-height: 1.1; white-space: nowrap; }
th:first-child { text-align: left; font-weight: normal; } thead th { font-weight: 600; }
.scroll { overflow-x: auto; } .figures { display: flex; flex-wrap: wrap; gap: 1.5rem; }
figure { margin: 1rem 0; flex: 1 1 20rem; max-width: 28rem; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: #1a1a1a; }
@media (max-width: 30rem) { table { font-size: 14px; } th, td { padding: .2rem .4rem; } }
footer { color: #555; border-top: 1px solid #ddd; margin-top: 2rem; padding-top: .5rem; }
"""


class Page(NamedTuple):
    """What the page shows."""

    tallies: dict[str, Tally]
    mapped: dict[str, Tally]
    """Everybody, as given and after calibration."""
    threshold: float
    costs: Costs
    tables: tuple[Table, Table, Table, Table, Table, Table, Table]
    """Scores, forecasts, decisions, what rules choose, decisions at another prevalence, what was promised, and sites
    that are treated alike."""

    def html(self) -> str:
        """Write the page out."""
        everyone = self.tallies["all"]
        scores, forecasts, decisions, choices, moved, promised, equal = map(_table, self.tables)
        return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>A screening test, judged where it is used</title><style>{CSS}</style></head><body>
<h1>A screening test, judged where it is used</h1>
<p>{everyone.total:,.0f} generated people at three sites; {everyone.prevalence:.1%} are sick. The same score meets a
different prevalence at each site, and an older machine at the hill.</p>
<h2>How well the score ranks and forecasts</h2>{scores}
<p>Below each number stand the bounds of its 95&nbsp;% interval. A negative skill means that saying the site's
prevalence to everybody would forecast better.</p>
<div class="figures">{self._figure("ROC curve", "roc", "false positive rate", "sensitivity")}
{self._figure("Precision–recall curve", "pr", "recall", "precision")}</div>
<p>Dots mark the threshold {self.threshold:g}, the cheapest for all together.</p>
<h2>Whether as many fall sick as it says</h2>{forecasts}
<div class="figures">{self._reliability()}</div>
<p>The risks were made for another prevalence, and are too extreme: an offset mends the first, beta calibration both.
Every person was mapped by what was fitted to others.</p>
<h2>What flagging at {self.threshold:g} or above does</h2>{decisions}
<p>A missed case costs {self.costs.fn:g}, a needless call-back {self.costs.fp:g}.</p>
<h2>Which cut-off?</h2>{choices}
<p>What five rules choose. The bounds of a cut-off are those between which it falls when people are drawn again; rates
are without the optimism of having been chosen on these very people.</p>
<div class="figures">{self._benefit()}</div>
<p>Net benefit: found cases less needless call-backs, weighed by the risk at which one would just call somebody back.
Risks as given are worth less than calling nobody from about {self._useless():.0%} on.</p>
<h2>The same decisions where fewer are sick</h2>{moved}
<p>Who is sick looks as before, so sensitivity and specificity stay what they are; but of those flagged, far fewer are
sick. Risks that were right here on average are too high there, until their odds are multiplied by the ratio of those of
both prevalences: that is the corrected log-loss. The prevalence there is taken as known, and the bounds hold chance
within the sick and the healthy alone.</p>
<div class="figures">{self._against()}</div>
<h2>Does it keep what was promised?</h2>{promised}
<p>A policy that was chosen on half of the people, held to three requirements on the other half. One holds if the
bound of its interval keeps it, and fails if the whole interval lies beyond; the policy stands beside this page
as policy.json.</p>
<h2>Finding the sick as often at each site</h2>{equal}
<p>The cheapest cut-offs that find the same share of the sick at each site, within 0.02, beside the cheapest without
that wish. What it costs depends on how strictly it is meant; and one cut-off for all sites, which asks nobody where
they are, comes dear. That the sick are found as often does not say how many healthy people are called back in
vain: see the false positive rates. The policy stands beside this page as policy-by-site.json.</p>
<div class="figures">{self._price()}</div>
<footer>Made by baserate {baserate.__version__}. Data digest {everyone.digest[:16]}. This file holds only what you
see.</footer></body></html>
"""

    def _figure(self, title: str, name: str, x_title: str, y_title: str) -> str:
        lines: list[str] = []
        legend: list[str] = []
        for (site, tally), (colour, dash) in zip(self.tallies.items(), STYLES, strict=True):
            curve = baserate.curve(tally)
            _, x, y = measure.table(curve, name).values()
            stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
            lines.append(f'<polyline fill="none" {stroke} points="{_points(x, y)}"/>')
            here = np.flatnonzero(curve.threshold >= self.threshold)[-1]
            cx, cy = _place(x[here], y[here])
            lines.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="4" fill="{colour}"/>')
            row = TOP + SIZE - 66 + 8 * len(legend) if name == "roc" else TOP + 14 + 8 * len(legend)
            legend.append(f'<line x1="250" x2="282" y1="{row}" y2="{row}" {stroke}/>')
            legend.append(f'<text x="288" y="{row + 4}">{escape(site)}</text>')
        box, drawn = f"0 0 {LEFT + SIZE + 14} {TOP + SIZE + 44}", _axes(x_title, y_title) + "".join(lines + legend)
        picture = f'<svg viewBox="{box}" role="img" aria-label="{title} for each site">{drawn}</svg>'
        return f"<figure><figcaption>{title}</figcaption>{picture}</figure>"

    def _against(self) -> str:
        at = np.linspace(0.001, 0.5, 120)
        counts = baserate.curve(self.tallies["all"]).at(self.threshold)
        lines = []
        for order, (name, (colour, dash)) in enumerate(zip(("npv", "precision"), STYLES[1:3], strict=True)):
            found = shift.against(counts, name, prevalences=at).columns
            low, high, value = (np.asarray(found[each], dtype=float) for each in ("low", "high", "value"))
            around = _points([*2 * at, *2 * at[::-1]], [*low, *high[::-1]])
            lines.append(f'<polygon fill="{colour}" fill-opacity="0.2" points="{around}"/>')
            stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
            lines.append(f'<polyline fill="none" {stroke} points="{_points(2 * at, value)}"/>')
            row = TOP + SIZE - 34 + 18 * order
            lines.append(f'<line x1="216" x2="248" y1="{row}" y2="{row}" {stroke}/>')
            lines.append(f'<text x="254" y="{row + 4}">{name}</text>')
        drawn = _axes("prevalence", "share that is right", most=0.5) + "".join(lines)
        box, title = f"0 0 {LEFT + SIZE + 14} {TOP + SIZE + 44}", "Precision and NPV against the prevalence"
        picture = f'<svg viewBox="{box}" role="img" aria-label="{title}">{drawn}</svg>'
        return f"<figure><figcaption>{title}</figcaption>{picture}</figure>"

    def _benefit(self) -> str:
        """Decision curves of risks as given and calibrated, beside calling everybody or nobody back."""
        at = np.arange(1, 61) / 100
        given, after = (
            decide.net_benefits(baserate.curve(self.mapped[name]), at) for name in ("as given", "after beta")
        )
        drawn = {
            "as given": given["net_benefit"],
            "after beta": after["net_benefit"],
            "all": given["all"],
            "none": 0 * at,
        }
        bottom, top = -0.02, 0.06
        lines = []
        for order, (name, worth) in enumerate(drawn.items()):
            seen = worth >= bottom
            points = _points(at[seen] / 0.6, (worth[seen] - bottom) / (top - bottom))
            lines.append(_line(name, points, STYLES[order], row=order, left=226))
        drawn_axes = _axes("risk from which on one would call back", "net benefit", most=0.6, span=(bottom, top))
        box, title = f"0 0 {LEFT + SIZE + 14} {TOP + SIZE + 44}", "Decision curve"
        picture = f'<svg viewBox="{box}" role="img" aria-label="{title}">{drawn_axes}{"".join(lines)}</svg>'
        return f"<figure><figcaption>{title}</figcaption>{picture}</figure>"

    def _price(self) -> str:
        """What it costs to find the sick as often at each site, against how far that may be missed."""
        sites = {(name,): baserate.curve(tally) for name, tally in self.tallies.items() if name != "all"}
        at = np.arange(21) / 100
        found = equalize.frontier(sites, equalize.Goal("equal-opportunity", costs=self.costs), within=at).columns
        drawn = {"with lots": "cost", "without lots": "deterministic_cost", "one cut-off": "blind_cost"}
        bottom, top = 0.4, 0.6
        lines = []
        for order, (name, column) in enumerate(drawn.items()):
            cost = np.asarray(found[column], dtype=float)
            seen = cost <= top
            points = _points(at[seen] / 0.2, (cost[seen] - bottom) / (top - bottom))
            lines.append(_line(name, points, STYLES[order + 1], row=order, left=62))
        axes = _axes("greatest difference of sensitivities", "cost per person", most=0.2, span=(bottom, top))
        box, title = f"0 0 {LEFT + SIZE + 14} {TOP + SIZE + 44}", "What it costs to treat sites alike"
        picture = f'<svg viewBox="{box}" role="img" aria-label="{title}">{axes}{"".join(lines)}</svg>'
        return f"<figure><figcaption>{title}</figcaption>{picture}</figure>"

    def _useless(self) -> float:
        """Risk from which on the scores as given are worth less than flagging nobody."""
        found = decide.net_benefits(baserate.curve(self.mapped["as given"]), np.arange(1, 61) / 100)
        return float(found["threshold"][np.argmax(found["net_benefit"] < 0)])

    def _reliability(self) -> str:
        diagonal = _points((0, 1), (0, 1))
        lines = [f'<polyline fill="none" stroke="#777" stroke-width="1" points="{diagonal}"/>']
        for at, ((name, tally), (colour, dash)) in enumerate(zip(self.mapped.items(), STYLES, strict=False)):
            curve = infer.reliability_curve(tally, "binned")
            stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
            lines.append(f'<polyline fill="none" {stroke} points="{_points(curve["probability"], curve["share"])}"/>')
            row = TOP + 14 + 16 * at
            lines.append(f'<line x1="56" x2="88" y1="{row}" y2="{row}" {stroke}/>')
            lines.append(f'<text x="94" y="{row + 4}">{escape(name)}</text>')
        drawn = _axes("risk, in ten bins", "share that is sick") + "".join(lines)
        box, title = f"0 0 {LEFT + SIZE + 14} {TOP + SIZE + 44}", "Calibration"
        picture = f'<svg viewBox="{box}" role="img" aria-label="{title}, before and after">{drawn}</svg>'
        return f"<figure><figcaption>{title}</figcaption>{picture}</figure>"


def _place(x: float, y: float) -> tuple[float, float]:
    return LEFT + SIZE * x, TOP + SIZE * (1 - y)


def _points(x: Iterable[float], y: Iterable[float]) -> str:
    """Points of a line at a resolution that the eye can see, undefined ones left out."""
    seen = (_place(a, b) for a, b in zip(x, y, strict=True) if not np.isnan(a + b))
    return " ".join(dict.fromkeys(f"{a:.1f},{b:.1f}" for a, b in seen))


def _line(name: str, points: str, style: tuple[str, str], *, row: int, left: int) -> str:
    """A line, and what it is called, in a list at the top."""
    colour, dash = style
    stroke, y = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"', TOP + 14 + 18 * row
    return (
        f'<polyline fill="none" {stroke} points="{points}"/>'
        f'<line x1="{left}" x2="{left + 32}" y1="{y}" y2="{y}" {stroke}/>'
        f'<text x="{left + 38}" y="{y + 4}">{escape(name)}</text>'
    )


def _axes(x_title: str, y_title: str, *, most: float = 1.0, span: tuple[float, float] = (0.0, 1.0)) -> str:
    """Axes from 0 to 1; the horizontal one may end earlier, the vertical one span something else."""
    ticks, (low, high) = [], span
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = _place(share, share)
        ticks.append(f'<line x1="{x}" x2="{x}" y1="{TOP}" y2="{TOP + SIZE}" stroke="#e4e4e4"/>')
        ticks.append(f'<line x1="{LEFT}" x2="{LEFT + SIZE}" y1="{y}" y2="{y}" stroke="#e4e4e4"/>')
        ticks.append(f'<text x="{x}" y="{TOP + SIZE + 17}" text-anchor="middle">{most * share:g}</text>')
        ticks.append(f'<text x="{LEFT - 7}" y="{y + 4}" text-anchor="end">{_tick(low + (high - low) * share)}</text>')
    middle, bottom = TOP + SIZE / 2, TOP + SIZE + 36
    ticks.append(f'<text x="{LEFT + SIZE / 2}" y="{bottom}" text-anchor="middle">{x_title}</text>')
    ticks.append(f'<text transform="translate(11 {middle}) rotate(-90)" text-anchor="middle">{y_title}</text>')
    return "".join(ticks)


def _tick(value: float) -> str:
    return f"{round(value, 9):g}".replace("-", "−")


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(site)}</th>" for site in table)
    names = next(iter(table.values()))
    cells = {name: "".join(_cell(row[name]) for row in table.values()) for name in names}
    rows = "".join(f"<tr><th>{escape(name.replace('_', ' '))}</th>{row}</tr>" for name, row in cells.items())
    return f'<div class="scroll"><table><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cell(number: Number) -> str:
    bounds = interval(number)
    return f"<td>{shown(number)}{f' <small>{bounds}</small>' if bounds else ''}</td>"


def shown(number: Number) -> str:
    """Counts whole, everything else to three digits."""
    value = number.value if isinstance(number, Estimate) else number
    return f"{value:,.0f}" if value >= 100 else f"{value:.3f}".replace("-", "−")


def interval(number: Number) -> str:
    """Bounds, where there are some; a minus is kept apart from the dash."""
    if not isinstance(number, Estimate):
        return ""
    return f"{shown(number.low)}{' – ' if number.low < 0 else '–'}{shown(number.high)}"

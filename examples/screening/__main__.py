"""Judge the test, print the numbers, and leave a page to open."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import baserate
from baserate import (
    Costs,
    Counts,
    Curve,
    Estimate,
    Plan,
    Policy,
    Report,
    Tallies,
    Tally,
    calibrate,
    decide,
    equalize,
    infer,
    measure,
    read,
    shift,
)
from baserate.population import Screening, screening_csv, simulate_screening

Number = Estimate | float
Table = Mapping[str, Mapping[str, Number]]
COSTS = Costs(fp=1, fn=20)
"""A missed case costs as much as twenty needless call-backs."""
PROBABILITIES = ("mean_probability", "observed_expected", "calibration_slope")
ELSEWHERE = 0.02
"""Prevalence where the test will be used next."""
RULES: dict[str, Callable[[Curve], Policy]] = {
    "least cost": partial(decide.cost, costs=COSTS),
    "Youden": decide.youden,
    "best F1": partial(decide.best, measure="f1"),
    "specificity 95 %": partial(decide.require, require="specificity >= 95%", maximize="sensitivity"),
    "top tenth": partial(decide.capacity, share=0.1),
}
"""Ways to choose a cut-off."""
PROMISED = "npv >= 0.98, sensitivity >= 0.85, precision >= 0.2"
"""What a policy that goes to work is held to."""
ALIKE = equalize.Goal("equal-opportunity", within=0.02, costs=COSTS)
"""The sick shall be found as often at each site, but for two in a hundred."""
CHOSEN_BY = ("sensitivity", "specificity", "precision")
AT_ONE_THRESHOLD = ("sensitivity", "specificity", "precision", "npv", "flag_rate", "mcc", "f1")


def by_site(people: Screening) -> dict[str, Tally]:
    """One tally for each site; their sum is the tally of all."""
    places = {str(name): people.site == name for name in np.unique(people.site)}
    tallies = {name: baserate.tally(people.sick[here], people.risk[here]) for name, here in places.items()}
    return {"all": Tally.sum(tallies.values())} | tallies


def ranking(tally: Tally) -> dict[str, Number]:
    """How well the score ranks and forecasts, whatever is done with it."""
    names = ("auc", "average_precision", "ks", "brier", "brier_skill", "log_loss_skill")
    numbers: dict[str, Number] = {"rows": tally.total, "prevalence": tally.prevalence}
    return numbers | {name: infer.estimate(name, tally) for name in names}


def deciding(counts: Counts[float]) -> dict[str, Number]:
    """What flagging at or above one threshold does."""
    rates: dict[str, Number] = {name: infer.estimate(name, counts) for name in AT_ONE_THRESHOLD}
    return rates | {"cost per person": infer.estimate(partial(measure.expected_cost, costs=COSTS), counts)}


def cheapest(tally: Tally) -> float:
    """Threshold of least expected cost."""
    return decide.cost(baserate.curve(tally), COSTS).threshold


def which_cut_off(tally: Tally) -> dict[str, dict[str, Estimate]]:
    """What several rules choose, how sure that is, and what it gives."""
    curve = baserate.curve(tally)
    table: dict[str, dict[str, Estimate]] = {}
    for name, rule in RULES.items():
        sure = decide.bootstrap_threshold(curve, rule, measures=CHOSEN_BY, draws=200)
        values = {"cut-off": sure.intervals[0]}
        values |= {measured: found.corrected for measured, found in sure.performance.items()}
        counts = sure.policy.cut.counts(curve)
        cost = infer.estimate(partial(measure.expected_cost, costs=COSTS), counts)
        table[name] = values | {"cost per person": cost}
    return table


def promised(people: Screening) -> tuple[Policy, Table]:
    """Choose a policy on half of the people, and hold it to what was promised on the others."""
    half = np.arange(len(people.sick)) % 2 == 0
    here, there = (
        read.tallies({"sick": people.sick[one], "risk": people.risk[one]}, truth="sick", score="risk")
        for one in (half, ~half)
    )
    policy = decide.choose_policy(here, partial(decide.cost, costs=COSTS))
    rows = decide.check(there, policy, PROMISED).rows()
    found = {
        f"{row['requirement'].replace('>=', '≥')}: {row['verdict']}": Estimate(
            row["value"], row["low"], row["high"], row["level"]
        )
        for row in rows
    }
    return policy, {"on the other half": found}


def alike(tallies: Mapping[str, Tally]) -> tuple[Policy, Table]:
    """Choose a cut-off for each site so that the sick are found as often everywhere, and tell what that changes."""
    sites = Tallies({"risk": {(name,): tally for name, tally in tallies.items() if name != "all"}}, ("site",))
    policy = equalize.deterministic_thresholds(sites, ALIKE)
    table: dict[str, dict[str, Number]] = {}
    for row in equalize.impact(sites, ALIKE, policy).rows():
        if row["measure"] in {"threshold", "sensitivity", "fpr", "expected_cost"}:
            name = {"threshold": "cut-off", "expected_cost": "cost per person"}.get(row["measure"], row["measure"])
            told = Estimate(row["value"], row["low"], row["high"], row["level"]) if row["level"] else row["value"]
            table.setdefault(row["group"]["site"] if row["group"] else "all", {})[f"{name}, {row['set']}"] = told
    del table["all"]  # who has no cut-off of their own
    return policy, table


def calibrated(tally: Tally) -> dict[str, Tally]:
    """The same people with better probabilities: each mapped by what was fitted without them."""
    after = {f"after {method}": calibrate.cross_fit(tally, method) for method in ("offset", "beta")}
    return {"as given": tally} | after


def forecasting(tally: Tally) -> dict[str, Number]:
    """Whether as many fall sick as it says."""
    numbers: dict[str, Number] = {"prevalence": tally.prevalence}
    numbers |= {name: infer.estimate(name, tally) for name in PROBABILITIES}
    return numbers | {"ece": measure.ece(tally), "log_loss": infer.estimate("log_loss", tally)}


def elsewhere(tally: Tally, threshold: float) -> dict[str, dict[str, Number]]:
    """What the same decisions are worth where fewer are sick: the classes look alike there, but have other shares."""
    right = tally.with_scores(calibrate.offset(tally)(tally.score))  # risks that are right here, on average
    moved = shift.reprior_calibrator(from_=tally.prevalence, to=ELSEWHERE)
    there = shift.reweigh(right, to=ELSEWHERE)
    corrected = shift.reweigh(right.with_scores(moved(right.score)), to=ELSEWHERE)
    columns = {
        "here": _at(tally, right, threshold),
        f"at {ELSEWHERE:.0%}": _at(shift.reweigh(tally, to=ELSEWHERE), there, threshold),
    }
    columns["here"] |= {"log_loss, corrected": infer.estimate("log_loss", right)}
    columns[f"at {ELSEWHERE:.0%}"] |= {"log_loss, corrected": infer.estimate("log_loss", corrected)}
    return columns


def _at(tally: Tally, right: Tally, threshold: float) -> dict[str, Number]:
    counts = baserate.curve(tally).at(threshold)
    names = ("sensitivity", "specificity", "precision", "npv", "flag_rate")
    numbers: dict[str, Number] = {"prevalence": tally.prevalence}
    return (
        numbers
        | {name: infer.estimate(name, counts) for name in names}
        | {"log_loss": infer.estimate("log_loss", right)}
    )


def reported(people: Screening, path: Path) -> Report:
    """Write the people to a file, and judge it where the test will be used next, as `baserate report` does."""
    path.write_text(screening_csv(people), encoding="utf-8")
    columns: dict[str, Any] = {"truth": "sick", "score": "risk", "group": "site", "positive": "1"}
    return baserate.run(Plan(files=(str(path),), prevalence=ELSEWHERE, costs=COSTS, **columns))


def main(folder: Path) -> None:
    """Measure, print, and write a map and policies for new people, and a page to explore."""
    people = simulate_screening()
    tallies = by_site(people)
    threshold = cheapest(tallies["all"])
    print(f"{tallies['all']}\n")
    scores = {name: ranking(tally) for name, tally in tallies.items()}
    decisions = {name: deciding(baserate.curve(tally).at(threshold)) for name, tally in tallies.items()}
    mapped = calibrated(tallies["all"])
    forecasts = {name: forecasting(tally) for name, tally in mapped.items()}
    choices = which_cut_off(tallies["all"])
    moved = elsewhere(tallies["all"], threshold)
    policy, kept = promised(people)
    by_site_policy, equal = alike(tallies)
    for title, table in (
        ("How well the score ranks and forecasts", scores),
        ("Whether as many fall sick as it says, as given and cross-fitted", forecasts),
        (
            f"What flagging at {threshold:g} or above does (missed case {COSTS.fn:g}, needless call-back {COSTS.fp:g})",
            decisions,
        ),
        ("Which cut-off? What rules choose, corrected for the optimism of the choice", choices),
        (f"The same decisions where {ELSEWHERE:.0%} are sick", moved),
        (f"Does flagging at {policy.threshold:g}, chosen on half of the people, keep what was promised?", kept),
        ("Finding the sick as often at each site, within 0.02", equal),
    ):
        print(f"{title}, with 95 % intervals\n{in_columns(table)}\n")
    own = {name: cheapest(tally) for name, tally in tallies.items()}
    print("Cheapest threshold: " + ", ".join(f"{name} {value:g}" for name, value in own.items()))
    folder.mkdir(parents=True, exist_ok=True)
    calibrate.beta(tallies["all"]).save(folder / "map.json")
    policy.save(folder / "policy.json")
    by_site_policy.save(folder / "policy-by-site.json")
    print(f"{folder / 'map.json'} makes the risks of new people right, and {folder / 'policy.json'}")
    print("decides whom to call back, or policy-by-site.json, site by site: baserate apply --help\n")
    report = reported(people, folder / "people.csv")
    print(report.text())
    report.save(folder / "report.html")
    print(f"\nOpen {folder / 'report.html'}")


def in_columns(table: Table) -> str:
    """One line for each measure, its 95 % intervals below it, and one column for each site."""
    lines = [["", *table]]
    for name in next(iter(table.values())):
        numbers = [row[name] for row in table.values()]
        lines += [[name, *map(shown, numbers)], ["", *map(interval, numbers)]]
    width = max(18, *(len(name) for name, *_ in lines))
    rows = ((name, "".join(f"{cell:>17}" for cell in cells)) for name, *cells in lines if any(cells))
    return "\n".join(f"  {name:{width}}{cells}" for name, cells in rows)


def shown(number: Number) -> str:
    """Counts whole, everything else to three digits."""
    value = number.value if isinstance(number, Estimate) else number
    return f"{value:,.0f}" if value >= 100 else f"{value:.3f}".replace("-", "−")


def interval(number: Number) -> str:
    """Bounds, where there are some; a minus is kept apart from the dash."""
    if not isinstance(number, Estimate):
        return ""
    return f"{shown(number.low)}{' – ' if number.low < 0 else '–'}{shown(number.high)}"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))

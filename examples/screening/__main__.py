"""Evaluate a screening test, print the numbers, and write a report to open in a browser."""

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
    calibration,
    decide,
    fairness,
    infer,
    measure,
    read,
    shift,
)
from baserate.population import Screening, screening_csv, simulate_screening

Number = Estimate | float
Table = Mapping[str, Mapping[str, Number]]
COSTS = Costs(fp=1, fn=20)
"""A missed case costs as much as twenty false alarms."""
DEPLOYMENT_PREVALENCE = 0.02
"""Prevalence where the test will be used next."""
RULES: dict[str, Callable[[Curve], Policy]] = {
    "least cost": partial(decide.cost, costs=COSTS),
    "Youden": decide.youden,
    "best F1": partial(decide.best, measure="f1"),
    "specificity 95%": partial(decide.require, require="specificity >= 95%", maximize="sensitivity"),
    "top tenth": partial(decide.capacity, share=0.1),
}
"""Rules that choose a threshold."""
REQUIREMENTS = "npv >= 0.98, sensitivity >= 0.85, precision >= 0.2"
"""Requirements on the policy that is deployed."""
PARITY = fairness.Goal("equal-opportunity", within=0.02, costs=COSTS)
"""Sensitivity may differ between sites by 0.02 at most."""
PROBABILITY_MEASURES = ("mean_probability", "observed_expected", "calibration_slope")
THRESHOLD_MEASURES = ("sensitivity", "specificity", "precision", "npv", "flag_rate", "mcc", "f1")


def tallies_by_site(people: Screening) -> dict[str, Tally]:
    """Count the scores of each class at each site; the sum of the sites is the tally of all people."""
    at_site = {str(name): people.site == name for name in np.unique(people.site)}
    tallies = {name: baserate.tally(people.sick[rows], people.risk[rows]) for name, rows in at_site.items()}
    return {"all": Tally.sum(tallies.values())} | tallies


def measure_ranking(tally: Tally) -> dict[str, Number]:
    """Measure discrimination and overall performance, which depend on no threshold."""
    names = ("auc", "average_precision", "ks", "brier", "brier_skill", "log_loss_skill")
    numbers: dict[str, Number] = {"rows": tally.total, "prevalence": tally.prevalence}
    return numbers | {name: infer.estimate(name, tally) for name in names}


def measure_threshold(counts: Counts[float]) -> dict[str, Number]:
    """Measure the decisions at one threshold."""
    rates: dict[str, Number] = {name: infer.estimate(name, counts) for name in THRESHOLD_MEASURES}
    return rates | {"cost per person": infer.estimate(partial(measure.expected_cost, costs=COSTS), counts)}


def measure_calibration(tally: Tally) -> dict[str, Number]:
    """Compare the predicted risks with the observed ones."""
    numbers: dict[str, Number] = {"prevalence": tally.prevalence}
    numbers |= {name: infer.estimate(name, tally) for name in PROBABILITY_MEASURES}
    return numbers | {"ece": measure.ece(tally), "log_loss": infer.estimate("log_loss", tally)}


def cheapest_threshold(tally: Tally) -> float:
    """Return the threshold of least expected cost."""
    return decide.cost(baserate.curve(tally), COSTS).threshold


def compare_rules(tally: Tally) -> dict[str, dict[str, Estimate]]:
    """Tabulate the threshold of each rule with its interval, and its optimism-corrected performance."""
    curve = baserate.curve(tally)
    table: dict[str, dict[str, Estimate]] = {}
    for name, rule in RULES.items():
        bootstrap = decide.bootstrap_threshold(curve, rule, measures=THRESHOLD_MEASURES[:3], n_bootstrap=200)
        corrected = {measured: estimates.corrected for measured, estimates in bootstrap.performance.items()}
        counts = bootstrap.policy.cut.counts(curve)
        cost = infer.estimate(partial(measure.expected_cost, costs=COSTS), counts)
        table[name] = {"threshold": bootstrap.intervals[0], **corrected, "cost per person": cost}
    return table


def validate_policy(people: Screening) -> tuple[Policy, Table]:
    """Choose a policy on half of the people, and check the requirements on the other half."""
    half = np.arange(len(people.sick)) % 2 == 0
    training, test = (
        read.tallies({"sick": people.sick[rows], "risk": people.risk[rows]}, truth="sick", score="risk")
        for rows in (half, ~half)
    )
    policy = decide.choose_policy(training, partial(decide.cost, costs=COSTS))
    estimates = {
        f"{row['requirement'].replace('>=', '≥')}: {row['verdict']}": Estimate(
            row["value"], row["low"], row["high"], row["level"]
        )
        for row in decide.check(test, REQUIREMENTS, policy).rows()
    }
    return policy, {"on the other half": estimates}


def equalize_sites(tallies: Mapping[str, Tally]) -> tuple[Policy, Table]:
    """Choose a threshold for each site under the parity constraint, and tabulate what changes."""
    sites = Tallies({"risk": {(name,): tally for name, tally in tallies.items() if name != "all"}}, ("site",))
    policy = fairness.deterministic_thresholds(sites, PARITY)
    table: dict[str, dict[str, Number]] = {}
    for row in fairness.impact(sites, PARITY, policy).rows():
        if row["group"] and row["measure"] in {"threshold", "sensitivity", "fpr", "expected_cost"}:
            name = "cost per person" if row["measure"] == "expected_cost" else row["measure"]
            interval = Estimate(row["value"], row["low"], row["high"], row["level"]) if row["level"] else row["value"]
            table.setdefault(row["group"]["site"], {})[f"{name}, {row['set']}"] = interval
    return policy, table


def calibrated_tallies(tally: Tally) -> dict[str, Tally]:
    """Recalibrate the risks by cross-fitting: no person's own outcome contributes to their calibrated risk."""
    after = {f"after {method}": calibration.cross_fit(tally, method) for method in ("offset", "beta")}
    return {"uncalibrated": tally} | after


def measure_deployment(tally: Tally, threshold: float) -> dict[str, dict[str, Number]]:
    """Measure the same decisions in the sample and at the deployment prevalence."""
    calibrated = tally.with_scores(calibration.offset(tally)(tally.score))
    prior_correction = shift.reprior_calibrator(sample_prevalence=tally.prevalence, prevalence=DEPLOYMENT_PREVALENCE)
    corrected = calibrated.with_scores(prior_correction(calibrated.score))
    deployed, deployed_calibrated, deployed_corrected = (
        shift.reweigh(each, prevalence=DEPLOYMENT_PREVALENCE) for each in (tally, calibrated, corrected)
    )
    sample = _measure_setting(tally, calibrated, threshold)
    deployment = _measure_setting(deployed, deployed_calibrated, threshold)
    return {
        "in the sample": sample | {"log_loss, corrected": infer.estimate("log_loss", calibrated)},
        f"at {DEPLOYMENT_PREVALENCE:.0%}": deployment
        | {"log_loss, corrected": infer.estimate("log_loss", deployed_corrected)},
    }


def _measure_setting(tally: Tally, calibrated: Tally, threshold: float) -> dict[str, Number]:
    """Measure decisions on the scores, and the log loss of calibrated risks, at one prevalence."""
    counts = baserate.curve(tally).at(threshold)
    names = ("sensitivity", "specificity", "precision", "npv", "flag_rate")
    numbers: dict[str, Number] = {"prevalence": tally.prevalence}
    rates = {name: infer.estimate(name, counts) for name in names}
    return numbers | rates | {"log_loss": infer.estimate("log_loss", calibrated)}


def evaluate_file(people: Screening, path: Path) -> Report:
    """Write the people to a file, and evaluate it at the deployment prevalence, as `baserate report` does."""
    path.write_text(screening_csv(people), encoding="utf-8")
    columns: dict[str, Any] = {"truth": "sick", "score": "risk", "group": "site", "positive": "1"}
    return baserate.run(Plan(files=(str(path),), prevalence=DEPLOYMENT_PREVALENCE, costs=COSTS, **columns))


def main(folder: Path) -> None:
    """Print all tables, and write a calibrator, two policies and the report."""
    people = simulate_screening()
    tallies = tallies_by_site(people)
    threshold = cheapest_threshold(tallies["all"])
    policy, requirements = validate_policy(people)
    site_policy, parity = equalize_sites(tallies)
    print(f"{tallies['all']}\n")
    for title, table in (
        ("Discrimination and overall performance", {name: measure_ranking(tally) for name, tally in tallies.items()}),
        (
            "Calibration before and after cross-fitted recalibration",
            {name: measure_calibration(tally) for name, tally in calibrated_tallies(tallies["all"]).items()},
        ),
        (
            f"Performance at threshold {threshold:g} (cost of a miss {COSTS.fn:g}, of a false alarm {COSTS.fp:g})",
            {name: measure_threshold(baserate.curve(tally).at(threshold)) for name, tally in tallies.items()},
        ),
        ("Thresholds by rule, optimism-corrected", compare_rules(tallies["all"])),
        (
            f"The same decisions at {DEPLOYMENT_PREVALENCE:.0%} prevalence",
            measure_deployment(tallies["all"], threshold),
        ),
        (f"Requirements on the threshold {policy.threshold:g}, which was chosen on half of the people", requirements),
        ("Equal opportunity: thresholds by site with sensitivities within 0.02", parity),
    ):
        print(f"{title}, with 95% confidence intervals\n{format_table(table)}\n")
    own = {name: cheapest_threshold(tally) for name, tally in tallies.items()}
    print("Cheapest threshold: " + ", ".join(f"{name} {value:g}" for name, value in own.items()))
    folder.mkdir(parents=True, exist_ok=True)
    calibration.beta(tallies["all"]).save(folder / "calibrator.json")
    policy.save(folder / "policy.json")
    site_policy.save(folder / "policy-by-site.json")
    print(f"{folder / 'calibrator.json'} recalibrates the risks of new people; {folder / 'policy.json'} decides")
    print("whom to recall, and policy-by-site.json does so site by site: baserate apply --help\n")
    report = evaluate_file(people, folder / "people.csv")
    print(report.text())
    report.save(folder / "report.html")
    print(f"\nOpen {folder / 'report.html'}")


def format_table(table: Table) -> str:
    """Format a line for each measure, its interval below, and a column for each site or method."""
    lines = [["", *table]]
    for name in next(iter(table.values())):
        numbers = [row[name] for row in table.values()]
        lines += [[name, *map(format_value, numbers)], ["", *map(format_interval, numbers)]]
    width = max(18, *(len(name) for name, *_ in lines))
    rows = ((name, "".join(f"{cell:>17}" for cell in cells)) for name, *cells in lines if any(cells))
    return "\n".join(f"  {name:{width}}{cells}" for name, cells in rows)


def format_value(number: Number) -> str:
    """Format counts as whole numbers, and everything else with three decimals."""
    value = number.value if isinstance(number, Estimate) else number
    return f"{value:,.0f}" if value >= 100 else f"{value:.3f}".replace("-", "−")


def format_interval(number: Number) -> str:
    """Format the bounds of an estimate; spaces separate the dash from a minus sign."""
    if not isinstance(number, Estimate):
        return ""
    return f"{format_value(number.low)}{' – ' if number.low < 0 else '–'}{format_value(number.high)}"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))

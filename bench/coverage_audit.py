"""Coverage audit: every interval and test in scenarios that are hard for it, as a table in Markdown.

    python -m bench.coverage_audit                      all scenarios, 1000 replicates, all cores
    python -m bench.coverage_audit prevalence AUC       scenarios whose subject or name contains a word
    python -m bench.coverage_audit weights --docs        tables of these subjects on the page of the audit

Lists everything that covers less than 93%, rejects more than 6.5%, or is wider than 1.3 times the narrowest method that
covers in all scenarios of its subject. Exit status 1 if anything is listed.
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
"""Names of the files with scenarios, by subject."""
_CHUNK = 25
"""Replicates that one task draws."""
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
    """Run the scenarios, print the table, and list what does not keep its promise."""
    parser = ArgumentParser(prog="python -m bench.coverage_audit", description="Coverage of all intervals and tests.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="run only scenarios that contain one of these words")
    parser.add_argument("--replicates", type=int, default=1000, help="data sets per scenario [default: 1000]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes [default: all cores]")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/coverage_audit.md")
    options = parser.parse_args(argv)
    scenarios = {
        key: scenario for key, scenario in all_scenarios().items() if _matches(" ".join(key).lower(), options.words)
    }
    tasks = [task for key, scenario in scenarios.items() for task in _chunks(key, scenario, options.replicates)]
    summaries = list(run(tasks, jobs=options.jobs))
    texts = sections(summaries)
    print("\n".join(texts.values()))
    if options.docs:
        whole = {subject for subject, _ in scenarios} - {key[0] for key in all_scenarios() if key not in scenarios}
        _write_page({subject: text for subject, text in texts.items() if subject in whole})
    return int(any(remarks(summaries).values()))


def _write_page(texts: Mapping[str, str]) -> None:
    """Replace the sections of these subjects on the page of the audit; others stay, and those that ran in part."""
    before, mark, rest = _PAGE.read_text(encoding="utf-8").partition(_MARK)
    old = rest[: rest.index(_END)].split("\n### ")[1:]
    titles = {text.partition("\n")[0]: f"### {text.rstrip()}\n" for text in old}
    titles |= {_title(subject): text for subject, text in texts.items()}
    body = "\n".join(text for _, text in sorted(titles.items()))
    write_text(_PAGE, f"{before}{mark}\n\n{body}\n{rest[rest.index(_END) :]}")


def _title(subject: str) -> str:
    return subject.replace("_", " ").capitalize()


def all_scenarios() -> dict[Key, Scenario]:
    """All scenarios by subject and name."""
    modules = {subject: import_module(f"bench.{name}") for subject, name in SUBJECTS.items()}
    return {(subject, each.name): each for subject, module in modules.items() for each in module.SCENARIOS}


def run(tasks: Sequence[Task], *, jobs: int | None = None) -> Iterator[tuple[str, Summary]]:
    """Run tasks in parallel; yield the subject and summary of each quantity of each scenario."""
    outcomes: dict[Key, dict[int, dict[str, list[Outcome]]]] = {}
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(replicate, task): task for task in tasks}
        for done, future in enumerate(as_completed(waiting), start=1):
            task = waiting[future]
            outcomes.setdefault(task.key, {})[task.start] = future.result()
            if sys.stderr.isatty():
                print(f"{done} of {len(tasks)}", end="\r", file=sys.stderr, flush=True)
    for key in dict.fromkeys(task.key for task in tasks):
        parts = [part for _, part in sorted(outcomes[key].items())]
        for quantity in dict.fromkeys(name for part in parts for name in part):
            found = [outcome for part in parts for outcome in part.get(quantity, [])]
            yield key[0], summarize(key[1], quantity, found)


def replicate(task: Task) -> dict[str, list[Outcome]]:
    """Draw the data sets of one task; each has a seed of its own, so that results do not depend on the chunks."""
    scenario = all_scenarios()[task.key]
    found: dict[str, list[Outcome]] = {}
    for at in range(task.start, task.stop):
        rng = np.random.default_rng([zlib.crc32(scenario.name.encode()), at])
        for quantity, outcome in scenario.replicate(rng).items():
            found.setdefault(quantity, []).append(outcome)
    return found


def remarks(summaries: Sequence[tuple[str, Summary]]) -> dict[tuple[str, str], str]:
    """What does not keep its promise, by scenario and quantity, with the reason; empty texts for all others."""
    found = {}
    reliable = _reliable_methods(summaries)
    for _, each in summaries:
        if ":" in each.quantity:
            continue
        why = [] if each.passes else [f"{each.kind} {_percent(each.value)}"]
        best = _narrowest(each, [other for about, other in summaries if (about, other.quantity) in reliable])
        if each.kind == "coverage" and best is not None and each.width > WIDTH * best.width:
            why.append(f"{each.width / best.width:.1f}× as wide as {best.quantity.partition(': ')[2]}")
        found[each.scenario, each.quantity] = "; ".join(why)
    return found


def _reliable_methods(summaries: Sequence[tuple[str, Summary]]) -> set[tuple[str, str]]:
    """Other methods that cover in every scenario of their subject: one that fails elsewhere is no measure of width."""
    others = [(subject, each) for subject, each in summaries if ":" in each.quantity]
    failing = {(subject, each.quantity) for subject, each in others if not each.passes}
    return {(subject, each.quantity) for subject, each in others} - failing


def _narrowest(summary: Summary, others: Sequence[Summary]) -> Summary | None:
    """The narrowest of other methods for the same quantity in the same scenario."""
    name = f"{summary.quantity}: "
    same = [each for each in others if each.scenario == summary.scenario and each.quantity.startswith(name)]
    return min(same, key=lambda each: each.width, default=None)


def sections(summaries: Sequence[tuple[str, Summary]]) -> dict[str, str]:
    """A table of each subject with one row per scenario and quantity, and a list of what does not keep its promise."""
    why = remarks(summaries)
    subjects = dict.fromkeys(subject for subject, _ in summaries)
    return {subject: "\n".join(_section(subject, summaries, why)) for subject in subjects}


def _section(subject: str, summaries: Sequence[tuple[str, Summary]], why: Mapping[Key, str]) -> Iterator[str]:
    own = [each for about, each in summaries if about == subject]
    yield f"### {_title(subject)}\n"
    yield "| scenario | quantity | result | wanted | median width | replicates | remark |"
    yield "|---|---|---|---|---|---|---|"
    yield from (_row(each, why.get((each.scenario, each.quantity), "")) for each in own)
    judged = [each for each in own if ":" not in each.quantity]
    missed = [each for each in judged if why[each.scenario, each.quantity]]
    near = [each for each in judged if each not in missed and not each.reaches]
    yield f"\n**{len(missed)} of {len(judged)} do not reach what is wanted**, and {len(near)} perhaps not:\n"
    yield from (f"- {each.scenario}, {each.quantity}: {why[each.scenario, each.quantity]}" for each in missed)
    yield from (
        f"- {each.scenario}, {each.quantity}: {each.kind} {_percent(each.value)}, within two Monte-Carlo errors"
        for each in near
    )


def _row(each: Summary, why: str) -> str:
    sign = {"error rate": "≤", "planned width": "≤"}.get(each.kind, "≥")
    result = "–" if isnan(each.value) else f"{each.kind} {_percent(each.value)} ± {_percent(each.error)}"
    width = "" if isnan(each.width) else f"{each.width:.3g}"
    refused = f"refused in {each.refused}: {each.reasons[0]}" if each.refused else ""
    cells = (each.scenario, each.quantity, result, f"{sign} {_percent(each.wanted)}", width, f"{each.replicates:,}")
    return f"| {' | '.join(cells)} | {'; '.join(filter(None, (why, refused)))} |"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def _chunks(key: Key, scenario: Scenario, replicates: int) -> Iterator[Task]:
    wanted = max(round(replicates * scenario.share), 1)
    return (Task(key, start, min(start + _CHUNK, wanted)) for start in range(0, wanted, _CHUNK))


def _matches(text: str, words: Sequence[str]) -> bool:
    return not words or any(word.lower() in text for word in words)


if __name__ == "__main__":
    sys.exit(main())

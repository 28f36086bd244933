"""Small samples of several groups, and the outcomes of decisions, counted row by row."""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

import baserate
from baserate import Costs, Curve

GRID = [place / 8 for place in range(8)]
"""Few scores, so that groups share some; their sums and differences are exact."""


class Person(NamedTuple):
    positive: bool
    score: float
    weight: int


Sample = dict[str, list[Person]]
Decision = Callable[[str, Person], bool]


@st.composite
def samples(draw: st.DrawFn, least: int = 2, most: int = 4) -> Sample:
    """Groups with both classes."""

    def person(positive: st.SearchStrategy[bool]) -> st.SearchStrategy[Person]:
        return st.builds(Person, positive, st.sampled_from(GRID), st.integers(1, 3))

    return {
        name: [
            draw(person(st.just(value=True))),
            draw(person(st.just(value=False))),
            *draw(st.lists(person(st.booleans()), max_size=8)),
        ]
        for name in "abcd"[: draw(st.integers(least, most))]
    }


def curves(sample: Sample) -> dict[str, Curve]:
    """Return the curve of each group."""
    return {
        name: baserate.curve(
            baserate.tally(
                [person.positive for person in people],
                [person.score for person in people],
                weight=np.array([person.weight for person in people], dtype=float),
            )
        )
        for name, people in sample.items()
    }


def thresholds(sample: Sample) -> list[float]:
    """List all observed scores, and inf."""
    return [inf, *sorted({person.score for people in sample.values() for person in people}, reverse=True)]


def cells(people: Iterable[tuple[Person, bool]]) -> dict[str, int]:
    """Count the confusion matrix of people and whether each is flagged."""
    result = dict.fromkeys(("tp", "fp", "fn", "tn"), 0)
    for person, flagged in people:
        result[("t" if person.positive == flagged else "f") + ("p" if flagged else "n")] += person.weight
    return result


def tables(sample: Sample, decide: Decision) -> dict[str, dict[str, int]]:
    """Count the confusion matrix of each group."""
    return {name: cells((person, decide(name, person)) for person in people) for name, people in sample.items()}


def pooled_table(result: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Add up the confusion matrices of all groups."""
    return {cell: sum(each[cell] for each in result.values()) for cell in ("tp", "fp", "fn", "tn")}


def cost(result: Mapping[str, Mapping[str, int]], costs: Costs) -> float:
    """Compute the expected cost per person."""
    whole = pooled_table(result)
    paid = sum(getattr(costs, cell) * many for cell, many in whole.items())
    return float(paid / sum(whole.values()))


def gap(result: Mapping[str, Mapping[str, int]], rate: str) -> float:
    """Return the greatest difference of a rate between two groups."""
    values = [_rate(each, rate) for each in result.values()]
    return max(values) - min(values)


def _rate(each: Mapping[str, int], rate: str) -> float:
    hits, others = {
        "sensitivity": (("tp",), ("fn",)),
        "fpr": (("fp",), ("tn",)),
        "flag_rate": (("tp", "fp"), ("fn", "tn")),
    }[rate]
    many = sum(each[cell] for cell in hits)
    return many / (many + sum(each[cell] for cell in others))


def satisfies(result: Mapping[str, Mapping[str, int]], tolerances: Mapping[str, float]) -> bool:
    """Return whether all rates agree within their tolerances."""
    return all(gap(result, rate) <= bound + 1e-9 for rate, bound in tolerances.items())


goals = st.builds(
    baserate.fairness.Goal,
    st.sampled_from(["equalized-odds", "equal-opportunity", "predictive-equality", "demographic-parity"]),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, inf]),
    st.builds(Costs, fp=st.integers(1, 4), fn=st.integers(1, 4)),
)
"""One parity, how strictly, and whole costs, so that equal costs are equal."""

"""The reject option: where a score leaves doubt, decisions favour some groups."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any, Literal, NoReturn

from baserate._counts import combine_counts
from baserate._cut import FLAG, PASS, Cut, Treatment
from baserate._errors import InfeasibleError, OptionError, UnknownLabelError
from baserate._policy import REFUSE, Policy, label_text, spellings
from baserate._tally import Group
from baserate.decide import may_be_infinite, objective as objective_of, skipped_note
from baserate.equalize._bands import MOST, Band, Bands, bands
from baserate.equalize._goal import Goal
from baserate.equalize._people import Groups, People, named, people_of
from baserate.measure import Measure, about, expected_cost, known

RULE = "reject-option"


def reject_option(  # noqa: PLR0913  (what is favoured, and how a band is chosen)
    groups: Groups,
    goal: Goal,
    *,
    favour: Any,  # noqa: ANN401  (a label of whatever kind, a group, or several)
    favourable: Literal["pass", "flag"],
    around: float | None = None,
    objective: str | Measure | None = None,
    model: str | None = None,
    otherwise: str = REFUSE,
) -> Policy:
    """Choose a band of scores in which favoured groups get the favourable action, and all others the other one.

    Outside of this critical band the score alone decides [@kamiran2012]. `favour` is a group or a list of them: a
    tuple of labels, or a plain label where there is one attribute. Of all bands between thresholds that were seen, or
    with `around` of all that are symmetric around it, it is the one of least expected cost at which the parity holds
    between all groups, or with `objective`, any measure of decisions, the best by that. Of equals the narrowest is
    taken, then the strictest. Of more than 3000 distinct scores so many are tried, and a note says so.

    >>> from baserate import curve, equalize, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> goal = equalize.Goal("equal-opportunity", within=0.1)
    >>> policy = equalize.reject_option({"f": f, "m": m}, goal, favour="m", favourable="flag")
    >>> policy.settings["band"], policy.by_group["f",].threshold, policy.by_group["m",].threshold
    ((0.6, 0.8), 0.8, 0.6)
    """
    people = people_of(groups, goal, model=model, otherwise=otherwise)
    favoured = _favoured(people, favour)
    _check(favourable, around)
    measure, toward = objective_of(partial(expected_cost, costs=goal.costs) if objective is None else known(objective))
    lax = {group for group in people.curves if (group in favoured) == (favourable == FLAG)}
    there = _bands(people, lax, around)
    sign = 1 if toward == "high" else -1
    band = there.best(lambda counts: sign * measure(counts))
    if band is None:
        or_infinite = " or infinite" * may_be_infinite(measure, toward)
        _refuse(there, goal, f"{about(measure).name} is undefined{or_infinite}", around)
    by_group: dict[Group, Treatment] = {
        group: Cut((band.low if group in lax else band.high,)) for group in people.curves
    }
    settings = {
        "cost": _cost(people, by_group),
        **_told(band, around),
        "favour": favoured,
        "favourable": favourable,
        **({} if objective is None else {"objective": about(measure).name}),
        **({} if there.exact else {"exact": False}),
    }
    policy = people.policy(by_group, rule=RULE, settings=settings)
    skipped = there.infinitely_good(lambda counts: sign * measure(counts)) if may_be_infinite(measure, toward) else 0
    notes = [*_notes(there, band), *skipped_note(measure, skipped, of="band")]
    return replace(policy, notes=(*policy.notes, *notes))


def _check(favourable: str, around: float | None) -> None:
    if favourable not in {PASS, FLAG}:
        raise OptionError(f"favourable is {favourable!r}; it is 'pass' or 'flag', the action that is better to get.")
    if around is not None and not isfinite(around):
        raise OptionError(f"around is {around}; give the threshold that is the middle of the band.")


def _favoured(people: People, favour: Any) -> list[Group]:  # noqa: ANN401  (as above)
    """Groups that are meant, in the order in which they are there."""
    nested = isinstance(favour, tuple) and all(isinstance(each, tuple) for each in favour)
    wanted = favour if nested or isinstance(favour, list | set | frozenset) else [favour]
    found = {group for each in wanted for group in _meant(people, each)}
    if not found or len(found) == len(people.curves):
        raise OptionError(
            f"{len(found)} of {len(people.curves)} groups are favoured; name at least one, and leave one that is not."
        )
    return [group for group in people.curves if group in found]


def _meant(people: People, given: Any) -> list[Group]:  # noqa: ANN401  (a group, or a label)
    """Groups of that name; labels are known by how they are written."""
    texts = [label_text(label) for label in (given if isinstance(given, tuple | list) else [given])]
    called = ", ".join(map(str, texts))
    found = [
        group
        for group in people.curves
        if len(texts) == len(group) and all(text in spellings(label) for text, label in zip(texts, group, strict=True))
    ]
    if not found:
        there = "; ".join(named(people.tallies, group) for group in people.curves)
        raise UnknownLabelError(f"{called} is to be favoured, which is no group here. There are: {there}.")
    return found


def _bands(people: People, lax: set[Group], around: float | None) -> Bands:
    low, high = ([curve for group, curve in people.curves.items() if (group in lax) == side] for side in (True, False))
    return bands(low, high, people.goal.bounds, around=around)


def _cost(people: People, by_group: dict[Group, Treatment]) -> float:
    """Expected cost of a case of everybody who takes part."""
    counts = combine_counts([by_group[group].counts(curve) for group, curve in people.curves.items()])
    return expected_cost(counts, costs=people.goal.costs)


def _told(band: Band, around: float | None) -> dict[str, Any]:
    """The band as a policy remembers it; without an end above it has no middle."""
    told: dict[str, Any] = {"band": tuple(band)}
    if around is None and not isfinite(band.high):
        return told
    middle = band.low / 2 + band.high / 2 if around is None else float(around)
    return told | {"around": middle, "margin": band.high / 2 - band.low / 2}


def _refuse(there: Bands, goal: Goal, lacking: str, around: float | None) -> NoReturn:
    """Say which band comes nearest to the parity; only bands that must be around a threshold can all miss it."""
    parities = " and ".join(each.name for each in goal.parities)
    band, beyond = there.nearest()
    if not beyond:
        raise InfeasibleError(
            f"{lacking} at every band that keeps {parities} within {goal.told['within']}; allow more, or choose by "
            "something else."
        )
    gaps = " and ".join(f"{rate} differs by {apart:g}" for rate, apart in beyond.items())
    raise InfeasibleError(
        f"no band around {around:g} keeps {parities} within {goal.told['within']}; {band} comes nearest, where {gaps}. "
        "Allow that much, or leave around= out, so that the band may be anywhere."
    )


def _notes(there: Bands, band: Band) -> list[str]:
    notes = []
    if band.low == band.high:
        notes.append("the band is empty: everybody is decided by the same threshold, for which no group need be asked.")
    if not there.exact:
        notes.append(
            f"of more than {MOST} distinct scores {len(there.low) - 1} were tried as thresholds, evenly by how many "
            "they flag: another band may be a little better. Tally.rounded makes scores fewer."
        )
    return notes

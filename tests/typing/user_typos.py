"""Mistakes of users: type checkers must report each line that is marked, and no other."""

import numpy as np

import baserate
from baserate import draw, measure

y, p = [1, 0, 1, 0], np.array([0.9, 0.6, 0.4, 0.1])


def make_mistakes() -> None:
    baserate.evaluate(y, p, prevalance=0.05)  # type: ignore[call-overload]
    baserate.evaluate(y, p, prevalence=0.05)
    baserate.evaluate(y, p, prevalence=[0.05])  # type: ignore[call-overload]
    baserate.evaluate(y, p, level="95%", costs=5)  # type: ignore[call-overload]
    baserate.evalute(y, p)  # type: ignore[attr-defined]
    measure.auk(y, p)  # type: ignore[attr-defined]
    measure.auc(y, p, sample_weights=p)  # type: ignore[call-overload]
    measure.auc(y, p, threshold="high")  # type: ignore[arg-type]
    measure.auc(3, p).upper()  # type: ignore[attr-defined]
    measure.sensitivity(y, p, cutoff=0.5)  # type: ignore[call-overload]
    len(measure.auc(y, p))  # type: ignore[arg-type]
    baserate.calibrate(y, p, 5)  # type: ignore[call-overload]
    baserate.calibrate(y, p, "isotonic", prevalance="5%")  # type: ignore[call-overload]
    baserate.calibrate(y, p, "histogram", bin=5)  # type: ignore[call-overload]
    baserate.calibrate(y, p).treshold  # type: ignore[attr-defined]
    baserate.choose_threshold(y, p, "youden", prevalance=0.05)  # type: ignore[call-overload]
    baserate.choose_threshold(y, p, costs=5)  # type: ignore[call-overload]
    draw.pr(y, p, prevalence=[0.05])  # type: ignore[call-overload]
    baserate.choose_threshold(y, p, fp="1", fn=5)  # type: ignore[call-overload]
    baserate.choose_threshold(y, p, "youden").tresholds  # type: ignore[attr-defined]
    baserate.equalize(y, p, "equalized-odds", groups=y)  # type: ignore[call-overload]
    baserate.equalize(y, p, 0.5, group=y)  # type: ignore[call-overload]
    draw.roc(y, p, thresold=0.5)  # type: ignore[call-overload]
    draw.rok(y, p)  # type: ignore[attr-defined]
    baserate.tally(y, p, weigth=p)  # type: ignore[call-overload]

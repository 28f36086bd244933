"""Rows about starting: what an import costs a fresh interpreter."""

import subprocess
import sys
from collections.abc import Callable

from bench._row import Outcome, medians


def start(code: str) -> Callable[[int, int], Outcome]:
    """Time a line of code beside `import numpy`, each less what an idle interpreter takes."""

    def run(_n: int, repeats: int) -> Outcome:
        sides = [_fresh(line) for line in (code, "import numpy", "pass")]
        for side in sides:
            side()  # the first run may still have to compile
        ours, rival, idle = medians(sides, repeats)
        return Outcome(ours - idle, rival - idle, note=f"an interpreter that does nothing takes {idle * 1e3:.0f} ms")

    return run


def _fresh(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)

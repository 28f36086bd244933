"""Benchmarks of import times in new interpreters."""

import subprocess
import sys
from collections.abc import Callable

from bench._benchmark import Outcome, median_seconds


def import_time(code: str) -> Callable[[int, int], Outcome]:
    """Time a line of code beside `import numpy`, both without the start of the interpreter itself."""

    def run(_n: int, repeats: int) -> Outcome:
        sides = [_in_new_process(line) for line in (code, "import numpy", "pass")]
        for side in sides:
            side()  # warm-up: the first run may have to compile modules to bytecode
        ours, peer, idle = median_seconds(sides, repeats)
        return Outcome(ours - idle, peer - idle, note=f"an idle interpreter takes {idle * 1e3:.0f} ms")

    return run


def _in_new_process(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)

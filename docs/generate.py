"""Write the pages that come from the code; with --check, only say whether they are fresh."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from baserate import Counts, Curve, Tally
from baserate.measure import MEASURES, TABLES, About, about

DOCS = Path(__file__).parent
CHAPTERS = {
    Counts: "Of a 2×2 table (`Counts`)",
    Curve: "Of a curve (`Curve`)",
    Tally: "Of scores as probabilities (`Tally`)",
}


def references() -> dict[str, str]:
    """Every entry of references.bib, by key, as one line to read."""
    found = {}
    for entry in (DOCS / "references.bib").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"@\w+\{(\w+), ", entry):
            fields = dict(re.findall(r"(\w+) = \{(.*?)\}(?:,|\})", entry))
            authors = fields["author"].replace(" and ", "; ")
            where = fields.get("journal") or fields.get("booktitle") or fields["publisher"]
            place = " ".join(filter(None, [where.replace("\\", ""), fields.get("volume"), f"({fields['year']})"]))
            doi = f" doi:{fields['doi']}" if "doi" in fields else ""
            found[match[1]] = f"{authors.rstrip('.')}. *{fields['title']}*. {place}.{doi}"
    return found


def measures_page() -> str:
    """One entry for each measure, by what it takes."""
    lines = [
        "# Measures",
        "",
        "<!-- Written by docs/generate.py from the docstrings; edit those, then run `make pages`. -->",
        "",
        "Each is a plain function in `baserate.measure`, and every name below finds it: `measure.named('recall')`.",
        "It is undefined, NaN, exactly in the cases listed; `measure.why` tells which.",
        "",
    ]
    for noun, title in CHAPTERS.items():
        lines += [f"## {title}", ""]
        for function in MEASURES.values():
            if about(function).of is noun:
                lines += entry(about(function))
    lines += ["## Curves as tables", "", "`measure.table(curve, name)` tabulates them at every threshold.", ""]
    lines += ["| name | along x | along y |", "|---|---|---|"]
    lines += [f"| `{name}` | {x} | {y} |" for name, (x, y) in TABLES.items()]
    cited = sorted({key for function in MEASURES.values() for key in about(function).references})
    told = references()
    return "\n".join([*lines, "", "## References", "", *(f"- **{key}**: {told[key]}" for key in cited), ""])


def entry(told: About) -> Iterator[str]:
    """What is known of one measure."""
    low, high = (f"{end:g}".replace("inf", "∞").replace("-", "−") for end in told.span)
    best = {"high": "high is good", "low": "low is good", None: "neither end is better"}[told.best]
    yield f"### {told.name}"
    yield ""
    yield f"{told.meaning}"
    yield ""
    # Names such as TP are one symbol each, not a product of letters.
    formula = re.sub(r"(?<![A-Za-z])([A-Z]{2,})", r"{\\mathrm{\1}}", str(told.formula))
    yield f"$${formula}$$"
    yield ""
    yield f"- from {low} to {high}; {best}"
    yield f"- undefined when {', or '.join(told.causes)}"
    if told.also:
        yield f"- also called {', '.join(told.also)}"
    if told.references:
        yield f"- see {', '.join(told.references)}"
    yield ""


PAGES = {"measures.md": measures_page}


def main(*, check: bool) -> int:
    """Write the pages, or compare them with what would be written."""
    stale = []
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"stale: {', '.join(stale)}; run make pages", file=sys.stderr)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))

"""The page: one file with everything in it, a content security policy of its own hashes, and hostile names as text."""

import gzip
import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import baserate
from baserate import FileFormatError, OptionError, Report
from baserate.report import _page
from baserate.report._page import page_payload, render_frame, render_html
from baserate.report._scripts import inline_scripts
from tests.report.cases import FIRES, Make
from tests.tiers import take_in_tiers

OLD = Path(__file__).parents[2] / "old" / "report-0.1.0.json"
HOSTILE = "</script><script>alert(1)</script><!-- {{script}} {{style}} & \" ' \u2028\u202e😀 \\"


class ParsedPage(HTMLParser):
    """Tags with their attributes, and the text within each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

        self.open = tag + str(dict(attrs).get("id") or dict(attrs).get("type", ""))

    def handle_endtag(self, tag: str) -> None:
        self.open = f"behind {tag}"

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open, data))

    def within(self, tag: str) -> str:
        return "".join(text for name, text in self.texts if name == tag)

    def unpack(self, name: str) -> str:
        return gzip.decompress(b64decode(self.within(f"scriptpacked-{name}"))).decode()

    def payload(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self.unpack("payload"))
        return result


def report_with_name(name: str) -> Report:
    return baserate.evaluate([1, 0, 1, 0], {name: [0.9, 0.6, 0.4, 0.1]}, group={name: [name, "b", name, "b"]})


@pytest.fixture(scope="module")
def hostile_report() -> Report:
    return report_with_name(HOSTILE)


def test_page_contains_the_payload(hostile_report: Report) -> None:
    observed = ParsedPage(render_html(hostile_report))
    assert observed.payload() == json.loads(json.dumps(page_payload(hostile_report)))


def test_hostile_names_add_nothing_to_the_page(hostile_report: Report) -> None:
    plain, other = (ParsedPage(render_html(each)) for each in (report_with_name("risk"), hostile_report))
    assert [tag for tag, _ in plain.tags] == [tag for tag, _ in other.tags]
    for kind in ("scriptmodule", "scriptpacked-script"):
        assert plain.within(kind) == other.within(kind)
    assert unescape(other.within("title")).startswith("</script><script>alert(1)")
    assert re.fullmatch(r"[\w+/]+=*", other.within("scriptpacked-payload"), re.ASCII)


def test_content_security_policy_allows_only_own_scripts_and_style(hostile_report: Report) -> None:
    observed = ParsedPage(render_html(hostile_report))
    policy = next(attrs["content"] for tag, attrs in observed.tags if attrs.get("http-equiv"))
    assert policy is not None
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    script = observed.unpack("script")
    assert "function loadReport" in script
    assert allowed.pop("script-src") == f"{_csp_hash(observed.within('scriptmodule'))} {_csp_hash(script)}"
    assert allowed.pop("style-src") == _csp_hash(observed.within("style"))
    assert allowed == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}


def _csp_hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_page_has_no_external_resources_and_no_placeholders() -> None:
    text = render_html(report_with_name("risk"))
    tags = [attrs for _, attrs in ParsedPage(text).tags]
    assert not [attrs for attrs in tags if {"src", "style"} & {*attrs}]
    assert all(str(attrs.get("href", "#")).startswith("#") for attrs in tags)
    assert not re.search(r"\{\{\w+\}\}", text)


def test_equal_reports_give_equal_pages() -> None:
    assert render_html(report_with_name("risk")) == render_html(report_with_name("risk"))
    report = report_with_name("risk")
    assert render_html(Report.from_json(report.to_json())) == render_html(report)


def test_names_that_cannot_be_encoded_are_rendered() -> None:
    render_html(report_with_name("a\ud800b")).encode("utf-8")
    assert len(_page.page_title(report_with_name("x" * 10_000))) == 80


def test_notebook_frame_contains_the_escaped_page(hostile_report: Report) -> None:
    (tag, attributes), *more = ParsedPage(render_frame(hostile_report)).tags
    assert (tag, more) == ("iframe", [])
    assert attributes["srcdoc"] == render_html(hostile_report)
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert attributes["title"] == _page.page_title(hostile_report)
    assert hostile_report.html(framed=True) == render_frame(hostile_report)


def test_report_without_curves_raises_with_a_remedy() -> None:
    old = Report.load(OLD)
    assert old.sketches == ()
    with pytest.raises(OptionError, match=r"Run its plan again: baserate\.run\(report\.plan\)"):
        old.html()
    with pytest.raises(OptionError, match="Run its plan again"):
        old.html(framed=True)


def test_html_ending_saves_the_page(tmp_path: Path) -> None:
    report = report_with_name("risk")
    report.save(tmp_path / "page.HTML")
    assert (tmp_path / "page.HTML").read_text(encoding="utf-8") == report.html()


@pytest.mark.parametrize("text", ["a </SCRIPT b", "a <!-- b", "</style>"])
def test_text_that_would_end_a_style_raises(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"style.css": f"/* {text} */", "layout.css": "", "index.html": "", "loader.js": "", "main.js": ""}
    monkeypatch.setattr(_page, "_read_asset", files.__getitem__)
    with pytest.raises(FileFormatError, match="Split the string"):
        render_html(report_with_name("risk"))


@pytest.mark.quick(3)
@pytest.mark.parametrize("make", take_in_tiers([make for several in FIRES.values() for make in several], 8))
def test_reports_with_any_finding_have_a_page(make: Make) -> None:
    report = make()
    assert ParsedPage(report.html()).payload()["findings"]


def test_labels_alone_have_a_page() -> None:
    report = baserate.evaluate([1, 0, 1, 0], predicted=[1, 0, 0, 0])
    model = ParsedPage(report.html()).payload()["models"][0]
    assert (model["labels"], model["threshold"], model["positive_mass"]) == (True, [1, 0], [[1, 1]])


def inline_files(**files: str) -> str:
    return inline_scripts({f"{name.replace('_', '/')}.js": text for name, text in files.items()}.__getitem__, "main.js")


def test_modules_follow_those_that_they_import() -> None:
    text = inline_files(
        main='import { b, c } from "./panels/b.js";\nimport {\n  a,\n} from "./a.js";\nb(a, c);',
        panels_b='import { a } from "../a.js";\nexport const b = (/** @type {import("../a.js").A} */ x) => a;\n'
        "/**\n * What it is told of itself.\n */\nexport async function c() {\n  // And why.\n  return 1;\n}\n",
        a='export class a {}\nconst own = "/* text */ // text";\n// import( and export in comments\n',
    )
    assert text == (
        'const $a = (() => {\nclass a {}\nconst own = "/* text */ // text";\nreturn { a };\n})();\n'
        "const $panels_b = (() => {\nconst { a } = $a;\nconst b = (x) => a;\nasync function c() {\n  return 1;\n}\n"
        "return { b, c };\n})();\n"
        "const { b, c } = $panels_b;\nconst {\n  a,\n} = $a;\nb(a, c);\n"
    )


def test_modules_have_scopes_of_their_own() -> None:
    text = inline_files(
        main='import { a } from "./a.js";\nconst own = a;\n', a="const own = 1;\nexport const a = own;\n"
    )
    assert text.count("const own") == 2
    assert text.index("return { a };") < text.index("const own = a")


@pytest.mark.parametrize(
    "line",
    [
        'import a from "./a.js";',
        'import * as a from "./a.js";',
        'import "./a.js";',
        'import { a as b } from "./a.js";',
        "import { a } from './a.js';",
        'import { a } from "a.js";',
        'const b = await import("./a.js");',
        "export default 1;",
        "export { b };",
        'export * from "./a.js";',
        "  export const b = 1;",
    ],
)
def test_unsupported_imports_and_exports_raise(line: str) -> None:
    with pytest.raises(FileFormatError, match=r"^main\.js "):
        inline_files(main=f"const first = 1;\n{line}\n", a="export const a = 1;\n")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"main": 'import { b } from "./a.js";\n', "a": "export const a = 1;\nconst b = 1;\n"},
         "main.js imports b from a.js, which does not export it"),
        ({"main": 'import { a } from "./a.js";\n', "a": 'import { b } from "./b.js";\nexport const a = 1;\n',
          "b": 'import { a } from "./a.js";\nexport const b = 1;\n'},
         "a.js imports b.js imports a.js: circular import"),
    ],
)  # fmt: skip
def test_imported_names_must_be_exported(files: dict[str, Any], message: str) -> None:
    with pytest.raises(FileFormatError, match=re.escape(message)):
        inline_files(**files)


def test_browsers_without_decompression_get_a_message(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(report_with_name("risk").html(), encoding="utf-8")
    page = browser.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(path.as_uri())
    assert page.locator("body > p").first.inner_text().startswith("This page needs a browser of 2023 or later")
    page.close()

"""The report page on a small wrapper and on hostile text.

``data/slice.wrapper.cpp``: see test_cli.py. In its packed copy, 256 floats (1024 bytes), the kernel writes up to
element 507: bytes 0 to 2031, so 1008 bytes past the end.
"""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from aoti_lint.analyzer.config import Settings, load
from aoti_lint.analyzer.pipeline import analyses
from aoti_lint.analyzer.reporting.pages import bars
from aoti_lint.analyzer.reporting.pages import page as pages
from aoti_lint.analyzer.reporting.pages.markup import join, tag
from aoti_lint.analyzer.reporting.pages.memory_map import Map, maps
from aoti_lint.analyzer.sources import Failure
from aoti_lint.commands.report import report_page
from aoti_lint.rules.registry import run_rules
from browser import browser

DATA = Path(__file__).parent / "data/slice.wrapper.cpp"
FIXTURES = Path(__file__).parent.parent / "fixtures"


def html(path: Path = DATA, **settings: object) -> str:
    text, failures = report_page(str(path), run_rules, Settings(**settings))  # type: ignore[arg-type]
    assert not failures
    return text


def mapped(path: Path = DATA, runtime: str = "auto") -> dict[str, Map]:
    (analysis,) = analyses(str(path), runtime)
    assert not isinstance(analysis, Failure)
    return {m.storage.name: m for m in maps(analysis)}


class Document(HTMLParser):
    """What the tests ask of a page: addresses, links and what is loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.tags: Counter[str] = Counter()
        self.feed(text)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags[name] += 1
        for key, value in attributes:
            if key == "id":
                self.ids[value or ""] += 1
            if key in ("href", "src"):
                self.links.append(value or "")
            assert not key.startswith("on")


# -- markup -------------------------------------------------------------------------------------------


def test_text_is_escaped_wherever_it_goes() -> None:
    made = tag("a", "<b>&", tag("i", '"x"'), href='"><script>', data_code="a'b", hidden=True, open=False)
    assert made == (
        "<a href=\"&quot;&gt;&lt;script&gt;\" data-code=\"a&#x27;b\" hidden>"
        "&lt;b&gt;&amp;<i>&quot;x&quot;</i></a>"
    )  # fmt: skip
    assert join(None, [1, ["<", None]]) == "1&lt;"


def test_characters_that_cannot_be_seen_are_shown() -> None:
    assert join("a\u202eb\x00c\udc80") == "a\\u202eb\\u0000c\\udc80"


# -- maps ---------------------------------------------------------------------------------------------


def test_the_map_of_a_packed_copy() -> None:
    copy = mapped()["buf0"]
    assert (copy.size, copy.root, copy.storage.kind) == (1024, "buf1", "copy")
    kinds = [(r.kind, r.loc.line, r.status) for r in copy.rows]
    assert kinds == [("copy", 100, "ok"), ("launch", 112, "fault"), ("release", 113, "ok")]
    (span,) = copy.rows[1].spans
    assert (span.touch, span.first, span.end, span.text) == ("write", 0, 2032, "writes 0 to 507")


def test_the_map_of_the_storage_it_was_copied_from() -> None:
    whole = mapped()["buf1"]
    assert whole.size == 2048
    copied = next(r for r in whole.rows if r.kind == "copied")
    assert [(s.touch, s.first, s.end) for s in copied.spans] == [("whole", 0, 2032)]
    # 256 of the 508 elements between its ends are the slice's; the other half of a pixel is not.
    assert [s.gaps for s in copied.spans] == [True] and copied.spans[0].text.endswith("0 to 507 with gaps")
    assert [s.gaps for r in whole.rows if r.kind == "allocation" for s in r.spans] == [False]


def test_a_runtime_that_keeps_the_view_has_it_in_the_same_storage() -> None:
    kept = mapped(runtime="libtorch")
    assert "buf0" not in kept
    rows = [
        (r.kind, [(s.touch, s.first, s.end) for s in r.spans])
        for r in kept["buf1"].rows
        if r.loc.line in (100, 112)
    ]
    assert rows == [("view", [("whole", 0, 2032)]), ("launch", [("write", 0, 2032)])]


def test_a_dynamic_map_is_drawn_where_the_fault_is() -> None:
    path = FIXTURES / "AL201/bad_dynamic.wrapper.cpp"
    (analysis,) = analyses(str(path))
    assert not isinstance(analysis, Failure)
    faulty = [m for m in maps(analysis) if any(r.status == "fault" for r in m.rows)]
    assert faulty
    for m in faulty:
        assert m.sizes and m.size is not None
        ends = [s.end for r in m.rows if r.status == "fault" for s in r.spans]
        starts = [s.first for r in m.rows if r.status == "fault" for s in r.spans]
        assert max(ends) > m.size or min(starts) < 0


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("AL*/*.wrapper.cpp")), ids=lambda p: f"{p.parent.name}-{p.name}"
)
def test_what_is_proved_stays_inside_on_the_page(path: Path) -> None:
    for analysis in analyses(str(path)):
        assert not isinstance(analysis, Failure)
        for m in maps(analysis):
            for row in m.rows:
                if row.kind == "launch" and row.status == "ok" and m.size is not None:
                    assert all(0 <= s.first < s.end <= m.size for s in row.spans)


# -- the page -----------------------------------------------------------------------------------------


def test_the_page_says_what_is_outside_and_links_hold() -> None:
    text = html()
    found = Document(text)
    assert "1,008 bytes past the end" in text and "✗ fault" in text and 'class="write out"' in text
    assert max(found.ids.values()) == 1
    assert found.links and all(link[0] == "#" and link[1:] in found.ids for link in found.links)
    assert found.tags["article"] == 4
    assert 'class="whole gaps"' in text and ">0 … 256, shown to 508</th>" in text and ">0 … 512</th>" in text
    assert "memory of the copy buf0" in text and "y0=3, x1=63" in text
    assert re.search(r"<mark>auto buf0 = .*?</mark>", text)


def test_the_page_loads_nothing() -> None:
    text = html()
    assert "http:" not in text and "https:" not in text and "url(" not in text and "@import" not in text
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text


def test_storages_without_findings_are_closed() -> None:
    storage = r'<details id="m\d+" class="storage"( open)? data-codes="[^"]*"><summary><code>(\w+)'
    opened = {name: bool(is_open) for is_open, name in re.findall(storage, html())}
    assert opened == {"buf1": True, "buf0": True, "arg0_1": False, "buf2": False}


def test_a_large_page_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "ROWS", 2)
    monkeypatch.setattr(bars, "ROWS", 1)
    text = html()
    assert "Left out to keep the page small" in text
    assert "2 more rows without a fault are left out" in text  # of the three of the copy, the fault stays
    assert "writes 0 to 507" in text


def test_later_findings_show_less_source(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = html().count("<figure>")
    monkeypatch.setattr(pages, "FULL", 2)
    text = html()
    # The last two of the four: AL203 has five places, AL210 three; one of each stays.
    assert text.count("<figure>") == everything - 6
    assert "4 places more left out" in text and "2 places more left out" in text


def test_selection_and_suppression_hold_for_the_page(tmp_path: Path) -> None:
    file = tmp_path / "aoti-lint.toml"
    file.write_text('ignore = ["AL102"]\n[[suppress]]\ncode = "AL210"\nreason = "known"\n')
    text, _ = report_page(str(DATA), run_rules, load(file))
    codes = set(re.findall(r'data-code="(AL\d+)"', text))
    assert codes == {"AL202", "AL203"} and "1 finding suppressed by" in text


def test_an_input_that_cannot_be_read_is_on_the_page(tmp_path: Path) -> None:
    text, failures = report_page(str(tmp_path / "none.wrapper.cpp"), run_rules, Settings())
    assert len(failures) == 1 and "Not analysed: no such file" in text


EVIL = "</style></script><img src=x onerror=document.title='owned'>"


def hostile(folder: Path) -> Path:
    """The wrapper with markup in its name, in a marked line and in a line beside it."""
    text = DATA.read_text()
    lines = text.split("\n")
    lines[98] += f" // {EVIL} \u202e"
    lines[99] += f" // {EVIL}"
    file = folder / "<img src=x onerror=document.title='owned'>.wrapper.cpp"
    file.write_text("\n".join(lines))
    return file


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    text = html(hostile(tmp_path))
    found = Document(text)
    assert found.tags["img"] == 0 and found.tags["script"] == 1 and "\u202e" not in text
    assert "&lt;/style&gt;" in text


# -- in a browser -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_hostile_text_does_nothing_in_a_browser(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(html(hostile(tmp_path)))
    dom = browser(tmp_path).dom(page)
    assert "<title>aoti-lint: " in dom and "<title>owned" not in dom and "<img" not in dom
    assert "4 of 4 findings shown" in dom  # the page's own script ran under its policy


@pytest.mark.slow
def test_filter_and_links_in_a_browser(tmp_path: Path) -> None:
    text = html()
    target = re.search(r'id="(m\d+)" class="storage" data-codes=""', text)
    assert target
    page = tmp_path / "page.html"
    page.write_text(text)
    tab = browser(tmp_path)
    assert re.search(rf'id="{target[1]}" class="storage" data-codes="" open', tab.dom(page, f"#{target[1]}"))
    steps = (
        "const f = document.getElementById('filter'); f.querySelector('[value=AL202]').click();"
        "f.elements.text.value = 'LOST-write'; f.dispatchEvent(new Event('input'));"
    )
    free = re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", f"<script>{steps}</script></body>")
    page.write_text(free)
    dom = tab.dom(page)
    assert "1 of 4 findings shown" in dom
    gone = {
        code
        for kind, code in re.findall(r'<article[^>]* class="(finding[^"]*)"[^>]*data-code="(\w+)"', dom)
        if "gone" in kind
    }
    assert gone == {"AL102", "AL202", "AL210"}


@pytest.mark.slow
@pytest.mark.parametrize("width", [600, 1000, 1200])
def test_tables_hold_in_a_narrow_window(tmp_path: Path, width: int) -> None:
    """Nothing is wider than the window, and the reasons in the table of runtimes keep room for words."""
    measure = (
        "const cells = [...document.querySelectorAll('.verdicts td:last-child:not(:empty)')];"
        "document.title = [document.documentElement.scrollWidth, Math.min(...cells.map(c => c.clientWidth))];"
    )
    free = re.sub(r"<meta http-equiv[^>]*>", "", html(runtimes=("libtorch", "executorch-metal")))
    page = tmp_path / "page.html"
    page.write_text(free.replace("</body>", f"<script>{measure}</script></body>"))
    title = re.search(r"<title>(\d+),(\d+)</title>", browser(tmp_path).dom(page, width=width))
    assert title and int(title[1]) <= width and int(title[2]) >= 300


@pytest.mark.slow
def test_light_dark_and_print(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(html())
    tab = browser(tmp_path)
    assert tab.corner(page, dark=False) == (255, 255, 255)
    assert tab.corner(page, dark=True) == (0x14, 0x17, 0x1A)
    assert tab.pdf(page).startswith(b"%PDF")

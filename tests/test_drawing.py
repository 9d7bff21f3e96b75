"""The alias graph as a picture, and the commands that write pages."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from aoti_lint.analyzer.config import ConfigError
from aoti_lint.commands.graph import graph_text

DATA = Path(__file__).parent / "data/slice.wrapper.cpp"
SVG = "{http://www.w3.org/2000/svg}"


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aoti_lint", *arguments], capture_output=True, text=True, check=False
    )


def boxes(svg: str) -> list[tuple[str, list[str], tuple[float, float, float, float]]]:
    """Class, lines and corners (left, top, right, bottom) of every box, in the coordinates of the whole picture."""
    out = []
    for part in ET.fromstring(svg).findall(f"{SVG}g"):
        left, top = map(float, part.attrib["transform"].removeprefix("translate(").rstrip(")").split())
        for group in part.findall(f"{SVG}g"):
            rect = group.find(f"{SVG}rect")
            if rect is not None:
                x, y, w, h = (float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
                lines = [t.text or "" for t in group.findall(f"{SVG}text")]
                out.append((group.attrib["class"], lines, (left + x, top + y, left + x + w, top + y + h)))
    return out


def test_every_storage_and_tensor_is_drawn() -> None:
    pytest.importorskip("grandalf")
    svg, failures = graph_text(str(DATA), "svg")
    assert not failures
    found = {(kind, lines[0]) for kind, lines, _ in boxes(svg)}
    assert found == {
        ("storage", "arg0_1  (input)"), ("tensor", "arg0_1"), ("storage", "buf1  (allocation)"), ("tensor", "buf1"),
        ("storage copy", "buf0  (copy)"), ("tensor", "buf0"), ("storage", "buf2  (allocation)"),
        ("tensor output", "buf2 -> output 0"),
    }  # fmt: skip
    edges = [
        g.attrib["class"] for g in ET.fromstring(svg).iter(f"{SVG}g") if g.find(f"{SVG}path") is not None
    ]
    assert (
        sorted(edges) == ["backs"] * 4 + ["copies"] * 2
    )  # one storage each; buf1 to buf0 as storages and as tensors


def test_boxes_do_not_overlap_and_stay_in_the_picture() -> None:
    pytest.importorskip("grandalf")
    svg, _ = graph_text(str(DATA), "svg")
    root = ET.fromstring(svg)
    placed = [corners for _, _, corners in boxes(svg)]
    for i, (left, top, right, bottom) in enumerate(placed):
        assert (
            left >= 0
            and top >= 0
            and right <= float(root.attrib["width"])
            and bottom <= float(root.attrib["height"])
        )
        for x0, y0, x1, y1 in placed[i + 1 :]:
            assert right <= x0 or x1 <= left or bottom <= y0 or y1 <= top


def test_a_picture_in_a_page_and_several_wrappers(tmp_path: Path) -> None:
    pytest.importorskip("grandalf")
    for name in ("a", "b&c"):
        (tmp_path / f"{name}.wrapper.cpp").write_text(DATA.read_text().replace("buf2", f"{name[0]}2"))
    page, _ = graph_text(str(tmp_path), "html")
    assert page.startswith("<!doctype html>") and page.count("<svg ") == 1
    assert "b&amp;c.wrapper.cpp under" in page


def test_without_the_library_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grandalf.graphs", None)
    with pytest.raises(ConfigError, match=r"pip install 'aoti-lint\[pictures\]'"):
        graph_text(str(DATA), "svg")


def test_the_commands(tmp_path: Path) -> None:
    page = tmp_path / "deep/page.html"
    done = tool("report", str(DATA), "-o", str(page))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert page.read_text().startswith("<!doctype html>")
    missing = tool("report", str(tmp_path / "none.wrapper.cpp"))
    assert missing.returncode == 3 and "none.wrapper.cpp: no such file" in missing.stderr
    assert "Not analysed" in missing.stdout
    assert tool("graph", str(DATA), "--format", "swg").returncode == 2

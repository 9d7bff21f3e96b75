"""The commands beside ``check``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cli_cases import METAL, Call

DYNAMIC = str(Path(__file__).parent.parent / "fixtures/AL210/bad_grid_dynamic.wrapper.cpp")


def test_rule(call: Call) -> None:
    listed = call("rule")
    assert listed.code == 0 and "AL202  error    kernel-write-out-of-bounds\n" in listed.out
    one = call("rule", "AL202").out
    assert (
        one.startswith("AL202 kernel-write-out-of-bounds [error]")
        and "\nBad:\n" in one
        and "\nGood:\n" in one
    )
    assert call("rule", "kernel-write-out-of-bounds").out == one
    everything = json.loads(call("rule", "all", "--format", "json").out)["rules"]
    assert {"AL202", "AL903"} <= {r["code"] for r in everything}
    assert all(r["bad"] and r["good"] and r["explanation"] and r["help"] for r in everything)


def test_runtimes(call: Call) -> None:
    listed = call("runtimes").out
    assert f"{METAL} *" in listed and "libtorch@" in listed
    names = [r["name"] for r in json.loads(call("runtimes", "-f", "json").out)["runtimes"]]
    for name in names:
        facts = json.loads(call("runtimes", name, "-f", "json").out)["facts"]
        assert facts and all(f["source"] for f in facts)
    text = call("runtimes", METAL).out
    assert text.startswith(METAL) and "from " in text


def test_kernels(call: Call) -> None:
    rows = json.loads(call("kernels", "m.wrapper.cpp", "-f", "json").out)["rows"]
    assert [(r["kernel"], r["parameter"], r["launch_line"], r["capacity"]) for r in rows[:2]] == [
        ("mps_lib_0", "out_ptr0", 112, 256),
        ("mps_lib_0", "in_ptr0", 112, 256),
    ]
    assert len(rows) == 6
    assert rows[0]["writes"] == {"min": 0, "max": 507} and rows[0]["reads"] is None
    assert (rows[0]["verdict"], rows[1]["verdict"]) == ("fault", "proved")
    in_place = json.loads(call("kernels", "m.wrapper.cpp", "-f", "json", "--runtime", "libtorch").out)["rows"]
    assert (in_place[0]["capacity"], in_place[0]["verdict"]) == (512, "proved")
    text = call("kernels", "m.wrapper.cpp").out.splitlines()
    assert text[0] == "m.wrapper.cpp" and text[2].split()[1:5] == ["mps_lib_0", "out_ptr0", "buf0", "buf1"]
    many = call("kernels", DYNAMIC, "-f", "json", "--runtime", "libtorch")
    spans = [json.loads(many.out)["rows"][0]["reads"]]
    narrowed = call("kernels", DYNAMIC, "-f", "json", "--size", "s77=2..5")
    spans.append(json.loads(narrowed.out)["rows"][0]["reads"])
    text = "0..64*s77 - 1"
    assert spans == [{"min": 0, "max": None, "text": text}, {"min": 0, "max": 319, "text": text}]
    missing = call("kernels", "none.wrapper.cpp")
    assert missing.code == 3 and "none.wrapper.cpp: no such file" in missing.err


def test_graph(call: Call) -> None:
    data = json.loads(call("graph", "m.wrapper.cpp", "-f", "json").out)
    assert (data["path"], data["runtime"]) == ("m.wrapper.cpp", METAL)
    storages = {n["name"]: n for n in data["nodes"] if n["kind"] == "storage"}
    assert storages["buf1"]["capacity"] == 512 and storages["buf1"]["line"] == 97
    assert "copies" in {e["kind"] for e in data["edges"]}
    kept = json.loads(call("graph", "m.wrapper.cpp", "-f", "json", "--runtime", "libtorch").out)
    assert "copies" not in {e["kind"] for e in kept["edges"]}
    assert call("graph", "m.wrapper.cpp").out.startswith(f"m.wrapper.cpp under {METAL}\n")
    assert call("graph", "m.wrapper.cpp", "-f", "dot", "-o", "g.dot").out == ""
    assert Path("g.dot").read_text().startswith("digraph")
    missing = call("graph", "none.wrapper.cpp")
    assert missing.code == 3 and "none.wrapper.cpp: no such file" in missing.err
    assert call("graph", "m.wrapper.cpp", "-f", "dott").code == 2


def fake_export(body: str) -> list[str]:
    """A script that does with the cache folder what an export would, without torch."""
    Path("export.py").write_text(
        "import os, pathlib, sys\n"
        "def aoti_compile_and_package(text):\n"
        "    folder = pathlib.Path(os.environ['TORCHINDUCTOR_CACHE_DIR'], 'ab')\n"
        "    folder.mkdir()\n"
        "    (folder / 'cab.wrapper.cpp').write_text(text)\n" + body
    )
    return [sys.executable, "export.py"]


def test_run_lints_what_the_command_generates(call: Call) -> None:
    command = fake_export("aoti_compile_and_package(pathlib.Path('m.wrapper.cpp').read_text())\n")
    got = call("run", "--format", "json", "--", *command)
    assert got.code == 1
    finding = next(f for f in json.loads(got.out)["files"][0]["findings"] if f["code"] == "AL202")
    assert finding["location"] == {
        "path": "export.py",
        "line": 6,
        "column": 1,
        "end_line": 6,
        "end_column": 68,
    }
    assert finding["related"][0]["location"]["path"].endswith("ab/cab.wrapper.cpp")
    assert Path(finding["related"][0]["location"]["path"]).is_file()
    text = call("run", *command).out
    assert "--> export.py:6:1   aoti_compile_and_package(" in text


def test_run_passes_the_exit_code_on(call: Call) -> None:
    assert call("run", "--", *fake_export("sys.exit(7)\n")).code == 7
    both = fake_export("aoti_compile_and_package(pathlib.Path('m.wrapper.cpp').read_text())\nsys.exit(9)\n")
    got = call("run", "--quiet", "--", *both)
    assert got.code == 9 and "error[AL202]" in got.out and "failed with exit code 9" in got.err
    nothing = call("run", "-q", "--", *fake_export(""))
    assert nothing.code == 3 and nothing.out.startswith(
        "aoti-lint run: error: the command generated no AOTInductor"
    )


def test_run_keeps_the_cache_when_told(call: Call) -> None:
    command = fake_export("aoti_compile_and_package(pathlib.Path('m.wrapper.cpp').read_text())\n")
    got = call("run", "--runtime", "libtorch", "--cache", "kept", "--", *command)
    assert got.code == 0 and Path("kept/ab/cab.wrapper.cpp").is_file()

"""The profile that docs/runtimes.md shows, used as a reader would; its ``rms_norm`` takes dense 2-D or 3-D tensors."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from aoti_lint.analyzer.runtimes import resolve

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/runtimes.md").read_text().partition("## A profile of your own")[2]

WRAPPER = """#include <torch/csrc/inductor/aoti_include/mps.h>

void AOTInductorModel::run_impl(
    AtenTensorHandle* input_handles,
    AtenTensorHandle* output_handles,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {
    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 1);
    auto arg0_1 = std::move(inputs[0]);
    inputs.clear();
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(arg0_1, {24L, }, {1L, }, "input"); }
    static constexpr int64_t int_array_0[] = {SIZES};
    static constexpr int64_t int_array_1[] = {STRIDES};
    AtenTensorHandle buf0_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_mps_rms_norm(wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(arg0_1, RANK, int_array_0, int_array_1, 0L)), &buf0_handle));
    RAIIAtenTensorHandle buf0(buf0_handle);
    output_handles[0] = buf0.release();
} // AOTInductorModel::run_impl
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the profile and the repository's wrapper where the page says they are."""
    (profile,) = re.findall(r"^```toml\n# ours.toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "ours.toml").write_text(profile)
    wrapper = Path("tests/data/slice.wrapper.cpp")
    (tmp_path / wrapper).parent.mkdir(parents=True)
    (tmp_path / wrapper).write_text((ROOT / wrapper).read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tool(line: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "aoti_lint", *line.split()]
    return subprocess.run(call, capture_output=True, text=True, check=False)


def test_the_example_of_the_page(folder: Path) -> None:
    (block,) = re.findall(r"^```console\n\$ aoti-lint (.*?)…\n```$", PAGE, re.MULTILINE | re.DOTALL)
    command, *shown = block.splitlines()
    done = tool(command)
    assert done.returncode == 1 and done.stdout.splitlines()[: len(shown)] == shown
    facts = tool("runtimes ./ours.toml").stdout
    assert "Our Metal fork" in facts and "aoti_torch_mps_rms_norm" in facts
    (folder / "aoti-lint.toml").write_text('runtime = "ours.toml"')
    assert "ours refuses the view" in tool("check tests/data/slice.wrapper.cpp").stdout


def test_what_it_adds_and_what_it_inherits(folder: Path) -> None:
    ours, base = resolve("./ours.toml"), resolve("executorch-metal@2026-08")
    assert ours.symbols.present == base.symbols.present | {"aoti_torch_mps_rms_norm"}
    assert ours.alloc_facts.dtypes == base.alloc_facts.dtypes | {"float16"}
    assert [r.id for r in ours.view_facts.rules] == ["slice"]
    assert ours.copy_facts == base.copy_facts


@pytest.mark.parametrize(
    ("sizes", "strides", "found"),
    [
        ((4, 6), (6, 1), []),
        ((24,), (1,), ["AL403"]),  # neither 2-D nor 3-D
        ((4, 6), (1, 4), ["AL401"]),  # read as {6, 1} without a look
    ],
)
def test_its_op(folder: Path, sizes: tuple[int, ...], strides: tuple[int, ...], found: list[str]) -> None:
    text = WRAPPER.replace("RANK", str(len(sizes)))
    for name, values in (("SIZES", sizes), ("STRIDES", strides)):
        text = text.replace(name, ", ".join(f"{v}L" for v in values) + ", ")
    Path("op.wrapper.cpp").write_text(text)
    out = tool("check op.wrapper.cpp --runtime ./ours.toml --quiet").stdout
    assert re.findall(r"error\[(AL\d+)\]", out) == found
    assert "AL402" in tool("check op.wrapper.cpp --runtime executorch-metal").stdout


def test_a_mistake_names_the_file_and_the_key(folder: Path) -> None:
    text = Path("ours.toml").read_text()
    for wrong, said in (
        (text.replace('"not packed"', '"not pakced"'), "packed"),
        (text.replace("policy = ", "polcy = "), "ops.rms_norm.args[0].polcy"),
        (text.replace("executorch-metal@2026-08", "executorch-metl"), "executorch-metal"),
        (text.replace("[alloc]", "[alocc]"), "alocc"),
    ):
        assert wrong != text
        Path("ours.toml").write_text(wrong)
        done = tool("check tests/data/slice.wrapper.cpp --runtime ./ours.toml")
        assert done.returncode == 2 and "ours.toml" in done.stderr and said in done.stderr, done.stderr


def test_beside_built_in_ones(folder: Path) -> None:
    out = tool("check tests/data/slice.wrapper.cpp --runtime ./ours.toml --runtime libtorch").stdout
    assert re.search(r"^ours +stops", out, re.MULTILINE)
    assert re.search(r"^libtorch@2.15 +takes it", out, re.MULTILINE)

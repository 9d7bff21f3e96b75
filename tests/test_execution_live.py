"""Models exported here and now, run with guard pages around their inputs: what the tool says is what happens."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aoti_lint.commands.kernels import kernel_rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]
GUARDED = Path(__file__).parent / "execution" / "guarded.py"


def models() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Small functions whose vector loops end in tails, with the inputs they are exported for."""
    import torch
    import torch.nn.functional as F

    rows = torch.rand(4, 37)
    images = torch.rand(2, 4, 6, 6).to(memory_format=torch.channels_last)
    return {
        "padding on the left": (lambda x: F.pad(x, (2, 0)) * 2, (rows,)),
        "padding on both sides": (lambda x: F.pad(x, (3, 2, 1, 1)) * 2, (rows,)),
        "padding of a mask": (lambda x: F.pad(x, (3, 2, 1, 1), value=False), (torch.rand(8, 40) > 0.5,)),
        "pooling with channels last": (lambda x: F.max_pool2d(x, 3, 1, 1) + 1, (images,)),
        "softmax": (lambda x: F.softmax(x, -1) * 2, (rows,)),
        "concatenation": (lambda x: torch.cat([x, x[:, :5]], 1) + 1, (rows,)),
    }


@pytest.mark.parametrize("name", ["padding on the left", "padding on both sides", "padding of a mask",
                                  "pooling with channels last", "softmax", "concatenation"])  # fmt: skip
def test_guard_pages_agree(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    function, inputs = models()[name]
    module = torch.nn.Module()
    module.forward = function
    package, values = tmp_path / "model.pt2", tmp_path / "inputs.pt"
    torch._inductor.aoti_compile_and_package(torch.export.export(module, inputs), package_path=str(package))
    torch.save(list(inputs), values)

    rows, failures = kernel_rows(str(package), "libtorch")
    assert rows and not failures
    (read,) = [r for r in rows if r["tensor"].startswith(("arg", "x")) and r["reads"]]
    assert read["verdict"] in ("proved", "fault")
    capacity = inputs[0].untyped_storage().nbytes() // inputs[0].element_size()
    expected = {
        "nowhere": False,
        "before": read["reads"]["min"] < 0,
        "after": read["reads"]["max"] >= capacity,
    }
    assert (read["verdict"] == "fault") is any(expected.values())
    for where, crashes in expected.items():
        command = [sys.executable, str(GUARDED), str(package), where, str(values)]
        code = subprocess.run(command, capture_output=True, timeout=300).returncode
        assert code == (-signal.SIGSEGV if crashes else 0), f"{name}, guard page {where}: ended with {code}"

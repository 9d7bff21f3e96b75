"""Models exported here and now, of every kind of code the generator writes: nothing in them is wrong but what is known to be.

Known true faults: vector loads under a mask that is uniform, or of booleans, ignore it (docs/trophies.md).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aoti_lint.analyzer.pipeline import check_paths
from aoti_lint.rules.registry import run_rules

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]
#: Model: the codes of the faults that are truly in it.
KNOWN: dict[str, set[str]] = {
    "conv block": set(),
    "attention with a cache": set(),
    "unfold, pad, cat": set(),
    "dynamic batch": set(),
    "template": set(),
    "cond": set(),
    "embedding": set(),
    # 3x3 windows over channels-last rows of 12 channels: the last lanes of a masked vector are past the input.
    "pooling": {"AL201"},
    # Booleans padded on the left: lanes before the row are loaded.
    "masks": {"AL201"},
    "integer indices": set(),
    "pools": set(),
    "half": set(),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "template": {"max_autotune": True, "max_autotune_gemm_backends": "CPP,ATEN"},
    "pools": {"memory_planning": True},
}


def module(function: Callable[..., Any], **parts: Any) -> Any:
    """A module whose forward is ``function(self, ...)``."""
    import torch

    made = type("Model", (torch.nn.Module,), {"forward": function})()
    for name, part in parts.items():
        if isinstance(part, torch.nn.Module):
            made.add_module(name, part)
        else:
            made.register_buffer(name, part)
    return made.eval()


def model(name: str) -> tuple[Any, tuple[Any, ...], Any]:
    """A model, its inputs, and which of their sizes are dynamic."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    rows = torch.rand(6, 37)
    images = torch.rand(2, 12, 9, 9).to(memory_format=torch.channels_last)

    def attend(self: Any, x: Any, at: Any) -> Any:
        q, k, v = self.qkv(x).view(2, 3, 4, 8).unbind(1)
        self.keys.index_copy_(1, at, k.unsqueeze(1))
        self.values.index_copy_(1, at, v.unsqueeze(1))
        scores = torch.einsum("bhd,bthd->bht", q, self.keys).softmax(-1)
        return torch.einsum("bht,bthd->bhd", scores, self.values).flatten(1)

    def chain(self: Any, x: Any) -> Any:
        y = F.relu(x @ x.T) + 1
        z = (y @ x).softmax(-1)
        return z.sum(0), (z * 2).cumsum(1)

    batch = {"x": {0: torch.export.Dim("batch", min=1, max=512)}}
    table: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
        "conv block": (nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.SiLU(), nn.Conv2d(8, 8, 1)).eval(),
                       (torch.rand(2, 3, 10, 10),), None),
        "attention with a cache": (
            module(attend, qkv=nn.Linear(32, 96), keys=torch.zeros(2, 16, 4, 8), values=torch.zeros(2, 16, 4, 8)),
            (torch.rand(2, 32), torch.tensor([3])), None),
        "unfold, pad, cat": (
            module(lambda self, x: torch.cat([F.pad(x, (2, 3)).unfold(1, 5, 3).flatten(1), x * 2], 1).relu()), (rows,), None),
        "dynamic batch": (module(lambda self, x: F.layer_norm(x, (37,)) + x.mean(0)), (rows,), batch),
        "template": (nn.Sequential(nn.Linear(64, 48), nn.GELU()).eval(), (torch.rand(32, 64),), None),
        "cond": (
            module(lambda self, x: torch.cond(x.sum() > 0, lambda y: y.sin() * 2, lambda y: y.cos() + 1, (x,))), (rows,), None),
        "embedding": (
            module(lambda self, x: self.table(x).sum(1), table=nn.Embedding(50, 24)), (torch.randint(0, 50, (6, 7)),), None),
        "pooling": (module(lambda self, x: F.max_pool2d(x, 3, 1, 1) + F.avg_pool2d(x, 3, 1, 1)), (images,), None),
        "masks": (
            module(lambda self, x, m: (torch.where(m, x, -1.0), F.pad(m, (3, 2, 1, 1), value=False))),
            (torch.rand(8, 40), torch.rand(8, 40) > 0.5), None),
        "integer indices": (
            module(lambda self, x, i: (x[i % 6], x.gather(1, i.abs().unsqueeze(0).expand(6, -1) % 37))),
            (rows, torch.randint(0, 30, (9,), dtype=torch.int32).long()), None),
        "pools": (module(chain), (rows,), None),
        "half": (module(lambda self, x: (x.softmax(-1) * 3 + x.amax(-1, keepdim=True)).sum(0)),
                 (rows.to(torch.bfloat16),), None),
    }  # fmt: skip
    return table[name]


@pytest.mark.parametrize("name", list(KNOWN))
def test_what_is_generated_is_right(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    made, inputs, dynamic = model(name)
    if dynamic is not None and not isinstance(made, torch.nn.Sequential):
        dynamic = tuple(dynamic.values())
    package = tmp_path / "model.pt2"
    exported = torch.export.export(made, inputs, dynamic_shapes=dynamic)
    torch._inductor.aoti_compile_and_package(
        exported, package_path=str(package), inductor_configs=OPTIONS.get(name, {})
    )
    report = check_paths([str(package)], run_rules, runtime="libtorch", jobs=1)
    assert report.files and all(f.status == "analysed" for f in report.files), [f.error for f in report.files]
    errors = [f for file in report.files for f in file.findings if f.severity == "error"]
    assert {f.code for f in errors} == KNOWN[name], [f.message for f in errors]
    counts = [f.counts for f in report.files]
    decided, total = sum(c.proved + c.fault for c in counts), sum(c.accesses["total"] for c in counts)
    print(
        f"{name}: {decided} of {total} accesses decided, {sum(c.unmodelled_statements for c in counts)} unmodelled"
    )
    assert decided >= 0.9 * total and not sum(c.unmodelled_statements for c in counts)

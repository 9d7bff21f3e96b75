"""C++ kernels for tests: lowering of a body, and enumeration of what an access touches."""

from __future__ import annotations

from collections.abc import Mapping

from aoti_lint.analyzer.kernels.cpp.reader import parse_kernels
from aoti_lint.analyzer.model.kernel import Access, Kernel
from iterations import points

HEAD = "#include <torch/csrc/inductor/cpp_prefix.h>\n"


def lower(params: str, body: str, vector_bytes: int | None = 64, helpers: str = "") -> Kernel:
    """The kernel ``k`` with these parameters and body; everything in it must be understood."""
    text = f'{HEAD}{helpers}extern "C"  void  k({params})\n{{\n{body}\n}}\n'
    kernel = parse_kernels(text, "m.kernel.cpp", vector_bytes=vector_bytes)["k"]
    assert kernel.unmodelled == ()
    return kernel


def touched(
    kernel: Kernel, param: str, kind: str, data: Mapping[str, range] | None = None, **scalars: int
) -> set[int]:
    """All elements of a parameter that are loaded, stored or updated."""
    out: set[int] = set()
    for a in kernel.accesses:
        if a.param == param and a.kind == kind:
            out |= set(points(a, data, **scalars))
    return out


def only(kernel: Kernel, param: str, kind: str) -> Access:
    (found,) = (a for a in kernel.accesses if a.param == param and a.kind == kind)
    return found

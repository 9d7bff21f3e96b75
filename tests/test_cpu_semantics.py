"""What C++ means, a row a construct: elements a body writes, by g++ and by the reader.

A row is *exact* where the reader must name just these elements, else it may also say that it does not know; naming
other elements, or none, is wrong. Each body stores through ``out_ptr0``, which lies in the middle of a large zeroed array.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from aoti_lint.analyzer.kernels.cpp.reader import parse_kernels
from aoti_lint.analyzer.model.kernel import Kernel

from .cpu_cases import touched

HEAD = "#include <torch/csrc/inductor/cpp_prefix.h>\n"
LOOP = "for (int64_t x0 = 0; x0 < 10; x0 += 1) {{ {} }}"

EXACT = {
    "old value of i++": "int64_t i = 3; out_ptr0[i++] = 1.0f; out_ptr0[i] = 1.0f;",
    "new value of ++i": "int64_t i = 3; out_ptr0[++i] = 1.0f;",
    "chained assignment": "int64_t i, j; i = (j = 4) + 1; out_ptr0[i] = out_ptr0[j] = 1.0f;",
    "reference to a variable": "int64_t k = 0; int64_t& r = k; r = 50; out_ptr0[k] = 1.0f;",
    "pointer to a variable": "int64_t k = 0; int64_t* q = &k; *q = 50; out_ptr0[k] = 1.0f;",
    "parameter by reference": "auto f = [&](int64_t& i) { i = 50; }; int64_t k = 0; f(k); out_ptr0[k] = 1.0f;",
    "capture by reference": "int64_t k = 0; auto f = [&]() { k = 7; }; f(); out_ptr0[k] = 1.0f;",
    "swap": "int64_t a = 3, b = 8; std::swap(a, b); out_ptr0[a] = 1.0f;",
    "division of a negative": LOOP.format("out_ptr0[(x0 - 9) / 2] = 1.0f;"),
    "remainder of a negative": LOOP.format("out_ptr0[(x0 - 9) % 4] = 1.0f;"),
    "division by a negative": LOOP.format("out_ptr0[x0 / (-3L) + 5] = 1.0f;"),
    "remainder by a negative": LOOP.format("out_ptr0[x0 % (-3L)] = 1.0f;"),
    "unsigned wrap": LOOP.format("uint32_t k = x0; out_ptr0[(k - 1u) % 4u] = 1.0f;"),
    "unsigned division": LOOP.format("uint32_t k = x0; out_ptr0[(k - 1u) / 100000000u] = 1.0f;"),
    "unsigned comparison": LOOP.format("uint32_t k = x0; if (k - 5u < 3u) out_ptr0[x0] = 1.0f;"),
    "assignment to eight bits": LOOP.format("uint8_t k = 0; k = x0 + 250; out_ptr0[k] = 1.0f;"),
    "arithmetic of eight bits": LOOP.format("uint8_t k = x0; out_ptr0[static_cast<int64_t>(k) - 5] = 1.0f;"),
    "minimum in eight bits": LOOP.format("out_ptr0[std::min<int8_t>(x0 + 200, 9)] = 1.0f;"),
    "product in 32 bits": LOOP.format("uint32_t s = x0 * 1000000000u; out_ptr0[s >> 22] = 1.0f;"),
    "cast to a wider element": "auto p = reinterpret_cast<double*>(out_ptr0); p[3] = 0.1;",
    "cast to a narrower element": "auto p = reinterpret_cast<int8_t*>(out_ptr0); p[9] = 1;",
    "cast of a moved pointer": "*reinterpret_cast<double*>(out_ptr0 + 5) = 0.1;",
    "pointer in steps": "float* p = out_ptr0; p += 3; *p = 1.0f; p[2] = 1.0f; *(p + 4) = 1.0f;",
    "early return": LOOP.format("out_ptr0[x0] = 1.0f;") + " return; out_ptr0[90] = 1.0f;",
    "counter after a loop": "int64_t i = 0; for (i = 0; i < 7; i++) {} out_ptr0[i] = 1.0f;",
}
HONEST = {
    "memset": "memset(out_ptr0, 255, 12);",
    "do while": "int64_t i = 0; do { out_ptr0[i] = 1.0f; i++; } while (i < 5);",
    "while": "int64_t i = 0; while (i < 5) { out_ptr0[i] = 1.0f; i += 2; }",
    "counting down": "for (int64_t i = 9; i > 3; i--) out_ptr0[i] = 1.0f;",
    "counter changed": "for (int64_t i = 0; i < 9; i += 2) { out_ptr0[i] = 1.0f; if (i == 0) i += 1; }",
    "bound changed": "int64_t n = 9; for (int64_t i = 0; i < n; i++) { out_ptr0[i] = 1.0f; n = 4; }",
    "goto": "int64_t i = 0; again: out_ptr0[i] = 1.0f; i += 3; if (i < 9) goto again;",
    "counter after break": "int64_t i = 0; for (i = 0; i < 9; i++) { if (i == 4) break; } out_ptr0[i] = 1.0f;",
    "step of a pointer": "float* p = out_ptr0; *p++ = 1.0f; *p++ = 1.0f;",
    "pointer by a condition": LOOP.format("float* p = x0 > 3 ? out_ptr0 : out_ptr0 + 20; p[x0] = 1.0f;"),
    "array of pointers": "float* p[2] = {out_ptr0, out_ptr0 + 9}; p[1][3] = 1.0f;",
    "pointer in a struct": "struct S { float* p; }; S s{out_ptr0}; s.p[3] = 1.0f;",
    "pointer to a pointer": "float* p = out_ptr0; float** q = &p; *q += 7; p[0] = 1.0f;",
    "lambda with a pointer": "auto f = [=](int64_t i) { out_ptr0[i] = 1.0f; }; f(3);",
    "lambda given away": "auto f = [&](int64_t i) { out_ptr0[i] = 1.0f; }; std::function<void(int64_t)> g = f; g(6);",
    "switch": LOOP.format(
        "switch (x0) { case 3: out_ptr0[30] = 1.0f; break; default: out_ptr0[x0] = 1.0f; }"
    ),
    "address as a number": "auto n = reinterpret_cast<uintptr_t>(out_ptr0); *reinterpret_cast<float*>(n + 8) = 1.0f;",
    "lambda changes what a loop counts": "int64_t k = 0; auto f = [&]() { k += 2; };"
    + LOOP.format("f(); out_ptr0[k] = 1.0f;"),
}


def _kernel(body: str) -> Kernel:
    text = f'{HEAD}extern "C"  void  k(float* out_ptr0)\n{{\n    {body}\n}}\n'
    return parse_kernels(text, "k.cpp")["k"]


def _executed(body: str, folder: Path) -> set[int]:
    """Elements of ``out_ptr0`` that are not zero after the body ran."""
    program = f"""
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
static float memory[40000];
void k(float* out_ptr0) {{ {body} }}
int main() {{
  k(memory + 20000);
  for (int i = 0; i < 40000; i++) {{ int32_t bits; memcpy(&bits, memory + i, 4); if (bits) printf("%d ", i - 20000); }}
}}
"""
    source, binary = folder / "k.cpp", folder / "k"
    source.write_text(program)
    command = ["g++", "-std=c++20", "-O0", "-fno-strict-aliasing", "-w", str(source), "-o", str(binary)]
    subprocess.run(command, check=True)
    out = subprocess.run([str(binary)], check=True, capture_output=True, text=True)
    return {int(word) for word in out.stdout.split()}


def _known(kernel: Kernel) -> bool:
    """Whether the reader claims to know every access, and when each happens."""
    return not kernel.unmodelled and all(
        a.index is not None and not a.guard.has_opaque() and not any(v.kind == "data" for v in a.vars)
        for a in kernel.accesses
    )


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize("name", [*EXACT, *HONEST])
def test_elements_are_those_that_g_plus_plus_writes_or_not_known(name: str, tmp_path: Path) -> None:
    body = EXACT.get(name) or HONEST[name]
    kernel = _kernel(body)
    if name in EXACT or _known(kernel):
        assert _known(kernel), [*kernel.unmodelled, *kernel.accesses]
        assert touched(kernel, "out_ptr0", "store") == _executed(body, tmp_path)
    else:
        assert any(a.param == "out_ptr0" for a in kernel.accesses)


WRAPPED = {
    "a load": LOOP.format("out_ptr0[x0] = nobody_knows(in_ptr0 + x0);"),
    "a store": LOOP.format("nobody_knows(in_ptr0[x0]).store(out_ptr0 + 1000000L + x0);"),
    "a pointer": LOOP.format("nobody_knows(&out_ptr0[x0], in_ptr0[x0]);"),
    "a name in a namespace": LOOP.format(
        "at::vec::nobody_knows(in_ptr0[x0]).store(out_ptr0 + 1000000L + x0);"
    ),
    "a type": LOOP.format("auto v = nobody::Knows<float>(out_ptr0); v.put(x0);"),
    "a macro": "NOBODY_KNOWS(out_ptr0, in_ptr0, 10)",
    "memcpy": "std::memcpy(out_ptr0, in_ptr0, 100 * sizeof(float));",
}


@pytest.mark.parametrize("name", WRAPPED)
def test_what_nobody_knows_is_never_an_access_that_is_known(name: str) -> None:
    text = f'{HEAD}extern "C"  void  k(const float* in_ptr0, float* out_ptr0)\n{{\n    {WRAPPED[name]}\n}}\n'
    kernel = parse_kernels(text, "k.cpp")["k"]
    unknown = {a.param for a in kernel.accesses if a.index is None}
    assert unknown & {"in_ptr0", "out_ptr0"}
    assert all(a.reason for a in kernel.accesses if a.index is None)

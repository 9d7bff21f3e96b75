"""What each construct of the kernel language means: a row a construct, expected values from running it as C++.

A row is a body over ``int out[N]`` (what a kernel may store to), the thread's place ``x`` and loaded values ``in[i]``.
The reader's accesses, enumerated over every thread, must be the elements that a compiled program touches; where it
can't follow (``open``), it must not claim a smaller set: some access is unknown, or depends on what was computed.
To add a dialect, add it to :data:`DIALECTS`: how its kernel is written around a body, and how it is read.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping

import pytest
from aoti_lint.analyzer.kernels.metal.reader import find_kernels
from aoti_lint.analyzer.model.kernel import Kernel
from iterations import points

THREADS = 12


def _metal(body: str) -> Kernel:
    text = (
        'const char* mps_lib_0_source = (R"MTL(\nkernel void generated_kernel(device int* out, constant int* in, '
        f'uint x [[thread_position_in_grid]]) {{\n{body}\n}}\n)MTL");\n'
    )
    return find_kernels(text, "w.cpp")["mps_lib_0"]


DIALECTS: Mapping[str, Callable[[str], Kernel]] = {"metal": _metal}

#: Constructs that are followed exactly: name, body.
EXACT = {
    "division rounds towards zero": "int i = (int)x - 6; out[i / 4 + 10] = 1;",
    "remainder has the sign of the dividend": "int i = (int)x - 6; out[i % 4 + 10] = 1;",
    "remainder by a negative": "int i = (int)x - 6; out[i % -4 + 10] = 1;",
    "unsigned goes around": "out[((x - 3u) >> 28) + 1] = 1;",
    "unsigned comparison": "if (x - 5u < 3u) out[x] = 1;",
    "narrow conversion keeps the low bits": "unsigned char c = (unsigned char)(x % 12 * 100); out[c] = 1;",
    "signed narrow conversion": "signed char c = (signed char)(x % 3 * 100); out[c + 128] = 1;",
    "short variable": "short s = x % 2 * 40000; out[s + 30000] = 1;",
    "a product wraps before it is widened": "long r = 5; int k = x % 2 * 65536; out[r + k * 65536] = 1;",
    "shifts": "out[(x << 3) | 7] = 1; out[((int)x - 6 >> 1) + 5] = 1;",
    "masks": "out[(x & 7) + (x ^ 3)] = 1; out[x & ~3u] = 1;",
    "post-increment": "int i = x; out[i++] = 1; out[i] = 1;",
    "pre-decrement": "int i = x + 1; out[--i] = 1;",
    "an assignment is a value": "int k = 0; int j = (k = 50) + 1; out[k] = 1; out[j] = 1;",
    "assignments in a row": "int a, b; a = b = 7; out[a + b] = 1;",
    "comma": "int k = (1, 4); out[k] = 1;",
    "compound assignment": "int k = x; k *= 3; k -= 2; k <<= 1; out[k + 4] = 1;",
    "a reference is the same variable": "int k = 0; int& r = k; r = 50; out[k] = 1;",
    "a pointer to a variable": "int k = 0; int* p = &k; *p = 50; out[k] = 1;",
    "a pointer that moves": "int n = x; out[0] = 1; for (int i = 0; i < 3; ++i) out[n + 4 * i] = 1;",
    "nested choice": "int k = x < 3 ? 20 : x < 6 ? 30 : 40; out[k] = 1;",
    "short circuit": "int k = 0; if (x > 3 && x < 9) k = x; out[k] = 1;",
    "counting up": "for (int i = 2; i < 17; i += 4) out[i] = 1;",
    "counting down": "for (int i = 9; i >= 0; i -= 2) out[i] = 1;",
    "inclusive bound": "for (int i = 1; i <= 5; i++) out[i + x] = 1;",
    "two counters": "for (int i = 0, j = 20; i < 10; ++i, --j) { out[i] = 1; out[j] = 1; }",
    "a counter of while": "int i = 0; while (i < 20) { out[i] = 1; i += 3; } out[i] = 1;",
    "do runs first": "int i = 30; do { out[i] = 1; i += 1; } while (i < 20); out[i + 5] = 1;",
    "do runs on": "int i = 0; do { out[i] = 1; i += 7; } while (i < 20); out[i] = 1;",
    "a value carried by a loop": "int k = x; for (int i = 0; i < 4; ++i) { out[k] = 1; k += 5; } out[k] = 1;",
    "an exit by a bound": "for (int i = 0; i < 20; ++i) { int k = 2 * i + x; if (k >= 9) break; out[k] = 1; }",
    "a loop that never runs": "int i = 5; for (; i < 3; ++i) out[99] = 1; out[i] = 1;",
    "continue": "for (int i = 0; i < 9; ++i) { if (i % 2 == 0) continue; out[i] = 1; }",
    "early return": "if (x > 7) return; if (x == 2) return; out[x] = 1;",
    "switch": "int k = 9; switch (x) { case 0: k = 1; break; case 1: case 2: k = 5; break; default: k = 8; } out[k] = 1;",
    "a branch that assigns": "int k = 3; if (x > 4) { k = x; k += 2; } else k = 1; out[k] = 1;",
    "a hidden name": "int k = 3; { int k = 90; out[k] = 1; } out[k] = 1;",
}

#: Constructs that need not be followed: nothing may be claimed of what they touch that a run does not keep to.
OPEN = {
    "a bound that changes": "int n = 10; for (int r = 0; r < n; ++r) { out[r] = 1; n = 20; }",
    "a counter that changes": "for (int r = 0; r < 10; r += 2) { out[r + 1] = 1; if (r == 0) r += 1; }",
    "an exit that comes and goes": "int i = 0; while (i < 20) { if (i == 7) break; out[i] = 1; i += 1; } out[i] = 1;",
    "a continue that skips the step": "int i = 0; while (i < 9) { if (i == 3) { i += 2; continue; } out[i] = 1; i += 1; }",
    "a doubling": "for (int i = 1; i < 70; i *= 2) out[i] = 1;",
    "a lambda": "int k = 0; auto f = [&]() { k = 50; }; f(); out[k] = 1;",
    "a jump": "int i = 0; again: out[i] = 1; i += 1; if (i < 20) goto again; out[i] = 1;",
    "an assignment to a choice": "int a = 1, b = 2; (x > 3 ? a : b) = 50; out[a] = 1; out[b] = 1;",
    "a counter that goes around": "int n = 0; for (unsigned char i = 0; i < 250; i += 100) { out[i] = 1; if (++n > 9) break; }",
    "a store in a lambda": "auto f = [&](int i) { out[i] = 1; }; f(100);",
    "falling through": "int k = 9; switch (x) { case 0: k = 1; case 1: k = k + 5; break; default: k = 8; } out[k] = 1;",
    "a return in a loop": "for (int i = 0; i < 9; ++i) { if (in[i] > 3) return; out[i] = 1; } out[60] = 1;",
}


@pytest.fixture(scope="module")
def touched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[int]]:
    """Elements stored by each body, compiled and run for every thread."""
    gxx = shutil.which("g++")
    if gxx is None:
        pytest.skip("needs g++")
    here = tmp_path_factory.mktemp("language")
    bodies = {**EXACT, **OPEN}
    functions = "\n".join(
        f"static void f{n}(Out out, const int* in, uint x) {{ {body} }}"
        for n, body in enumerate(bodies.values())
    )
    calls = "\n".join(
        f'printf("{n}"); for (int i = 0; i < {THREADS}; ++i) {{ f{n}(Out(), data, i); }} putchar(10);'
        for n in range(len(bodies))
    )
    source = here / "run.cpp"
    source.write_text(
        "#include <cstdio>\ntypedef unsigned int uint;\n"
        'struct Cell { long i; void operator=(int) { printf(" %ld", i); } };\n'
        "struct Out { Cell operator[](long i) const { return Cell{i}; } };\n"
        f"static const int data[64] = {{0}};\n{functions}\nint main() {{ {calls} }}\n"
    )
    subprocess.run([gxx, "-w", "-fwrapv", "-o", here / "run", source], check=True)
    out = subprocess.run([here / "run"], check=True, capture_output=True, text=True).stdout
    found = [set(map(int, line.split()[1:])) for line in out.splitlines()]
    return dict(zip(bodies, found, strict=True))


def stores(k: Kernel) -> set[int]:
    out: set[int] = set()
    for a in k.accesses:
        if a.param == "out":
            out.update(points(a, **{"grid.0": THREADS}))
    return out


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", EXACT)
def test_followed(name: str, dialect: str, touched: dict[str, set[int]]) -> None:
    k = DIALECTS[dialect](EXACT[name])
    assert k.unmodelled == ()
    assert stores(k) == touched[name]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", OPEN)
def test_not_claimed(name: str, dialect: str, touched: dict[str, set[int]]) -> None:
    """What is stored lies in what is claimed, unless something is said not to be known."""
    k = DIALECTS[dialect](OPEN[name])
    if any(a.index is None or any(v.extent is None for v in a.vars) for a in k.accesses):
        return
    claimed: set[int] = set()
    for a in k.accesses:
        if a.param == "out":
            assert a.guard.has_opaque() or name == "falling through"
            claimed.update(points(_certain(a), **{"grid.0": THREADS}))
    assert touched[name] <= claimed


def _certain(a):  # type: ignore[no-untyped-def]
    from aoti_lint.analyzer.model.record import replace
    from aoti_lint.analyzer.symbolic import TRUE, Cond

    kept = [c for c in a.guard.conjuncts() if not c.has_opaque()]
    return replace(a, guard=Cond.join("and", kept) if kept else TRUE)

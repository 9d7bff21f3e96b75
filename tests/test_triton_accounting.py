"""Nothing of a Triton kernel is lost: mutations that no reader knows, assertions and launchers as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import iterations
import pytest
from aoti_lint.analyzer.kernels.triton.reader import TritonLauncher, find_launchers
from aoti_lint.analyzer.symbolic import const, sym

from .triton_cases import accesses, lower, points, wrapper

FIXTURES = Path(__file__).parent.parent / "fixtures"
CALL = re.compile(r"\btl\.(load|store|atomic_\w+)\(")


def _calls() -> list[tuple[Path, int]]:
    """Every load, store and atomic of the kernels in the fixtures."""
    return [
        (path, m.start())
        for path in sorted(FIXTURES.glob("*/ok*.wrapper.cpp"))
        for m in CALL.finditer(path.read_text())
    ]


def _lost(text: str) -> bool:
    return any(
        a.index is None and a.reason for k in find_launchers(text, "w").values() for a in k.kernel.accesses
    )


def _end(text: str, at: int) -> int:
    depth = 0
    for i in range(text.index("(", at), len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i + 1
    raise AssertionError


@pytest.mark.parametrize("form", ["strange({args})", "strange(lambda: {call})", "[{call} for _ in range(1)]"])
def test_no_load_or_store_is_lost_in_what_nobody_knows(form: str) -> None:
    found = _calls()
    assert len(found) > 10
    for path, at in found:
        text = path.read_text()
        end = _end(text, at)
        call = text[at:end]
        args = call[call.index("(") + 1 : -1]
        assert _lost(text[:at] + form.format(call=call, args=args) + text[end:]), (path, call)


@pytest.mark.parametrize(
    "body",
    [
        "p = tl.load(in_ptr0 + x).to(tl.pointer_type(tl.float32))\ntl.store(p, 1.0)",
        "def inner():\n    tl.store(out_ptr0 + x, 1.0)\ninner()",
        "try:\n    tl.store(out_ptr0 + x, 1.0)\nexcept ValueError:\n    pass",
        "tl.inline_asm_elementwise('st', 'r', [out_ptr0 + x], tl.int32, True, 1)",
        "p = (out_ptr0, in_ptr0)\nstrange(p)",
        "p = out_ptr0 if strange() else in_ptr0\ntl.store(p + x, 1.0)",
        "match x:\n    case 1:\n        tl.store(out_ptr0, 1.0)",
    ],
)
def test_what_is_not_followed_is_an_unknown_access(body: str) -> None:
    k = lower("x = tl.arange(0, 16)\n" + body, "in_ptr0:l out_ptr0:f", ("1", "1", "1"))
    lost = [a for a in k.kernel.accesses if a.index is None]
    assert lost and all(a.reason for a in lost)
    assert any(a.kind == "store" for a in lost)


def test_a_branch_that_is_not_compiled_loses_nothing() -> None:
    k = lower(
        """
        x = tl.arange(0, 16)
        if FLAG:
            strange(out_ptr0)
        if FLAG and strange(in_ptr0):
            pass
        tl.store(out_ptr0 + x, 1.0)
        """,
        "in_ptr0:l out_ptr0:f FLAG:c",
        ("1", "1", "1"),
        constants="'FLAG': False",
    )
    (a,) = k.kernel.accesses
    assert points(k, a) == list(range(16))


def _asserted(check: str, compiled: str = "") -> set[int]:
    """The values of a loaded index, of -2..12, for which a load at it is still thought possible."""
    text = wrapper(
        f"""
        x = tl.arange(0, 4)
        i = tl.load(in_ptr0 + x)
        {check}
        tl.store(out_ptr0 + i, 1.0)
        """,
        "in_ptr0:l out_ptr0:f n:n",
        ("1", "1", "1"),
    ).replace("'kernel_name'", compiled + "'kernel_name'")
    (k,) = find_launchers(text, "w").values()
    (a,) = accesses(k, "out_ptr0")

    return set(iterations.points(a, {v.name: range(-2, 13) for v in a.vars if v.extent is None}, n=0))


ALL = set(range(-2, 13))


@pytest.mark.parametrize(
    ("check", "compiled", "left"),
    [
        ("tl.device_assert((0 <= i) & (i < 10), 'i')", "", set(range(10))),
        ("tl.device_assert((0 <= i) & (i < 10), 'i')", "'assert_indirect_indexing': False, ", ALL),
        ("tl.device_assert((0 <= i) & (i < 10), 'i', x < 2)", "", ALL),
        ("tl.device_assert((0 <= i) & (i < 10), 'i', mask=x < 2)", "", ALL),
        ("if n > 5: tl.device_assert((0 <= i) & (i < 10), 'i')", "", ALL),
        ("for k in range(n): tl.device_assert((0 <= i) & (i < 10), 'i')", "", ALL),
        ("tl.assume((0 <= i) & (i < 10))", "'assert_indirect_indexing': False, ", set(range(10))),
    ],
)
def test_an_assertion_holds_where_it_stands(check: str, compiled: str, left: set[int]) -> None:
    assert _asserted(check, compiled) == left


LAUNCH = "    launchKernel("
COPY = (
    "x = tl.program_id(0) * 16 + tl.arange(0, 16)\ntl.store(out_ptr0 + x, tl.load(in_ptr0 + x, x < n), x < n)"
)


def _handed(a: str, b: str, c: str, order: str = "&a, &b, &c", kind: str = "int32_t") -> TritonLauncher:
    text = wrapper(COPY, "in_ptr0:f out_ptr0:f n:n", ("((n + (16 - 1)) / (16))", "1", "1"))
    lines = f"""    CUdeviceptr a = reinterpret_cast<CUdeviceptr>({a});
    CUdeviceptr b = reinterpret_cast<CUdeviceptr>({b});
    {kind} c = {c};
    void* kernel_args_[] = {{{order}}};
"""
    (k,) = find_launchers(text.replace(LAUNCH, lines + LAUNCH), "w").values()
    return k


def test_arguments_in_order_are_the_parameters() -> None:
    assert _handed("in_ptr0.data_ptr()", "out_ptr0.data_ptr()", "n").arguments is None


def test_a_pointer_that_the_launcher_moves() -> None:
    k = _handed("in_ptr0.data_ptr()", "out_ptr0.data_ptr()) + (64", "n")
    (a,) = accesses(k, "out_ptr0")
    assert points(k, a, n=20) == [16 + i for i in range(20)]  # 64 bytes are 16 floats
    odd = _handed("in_ptr0.data_ptr()", "out_ptr0.data_ptr()) + (2", "n")
    assert accesses(odd, "out_ptr0")[0].index is None


def test_a_scalar_that_the_launcher_changes() -> None:
    found = _handed("in_ptr0.data_ptr()", "out_ptr0.data_ptr()", "n + 5").arguments
    assert found is not None and dict(found.scalars) == {"n": sym("n") + 5}


def test_arguments_in_another_order() -> None:
    found = _handed("in_ptr0.data_ptr()", "out_ptr0.data_ptr()", "n", "&b, &a, &c").arguments
    assert found is not None and dict(found.tensors) == {"in_ptr0": "out_ptr0", "out_ptr0": "in_ptr0"}


def test_an_argument_of_another_width_is_not_known() -> None:
    found = _handed("in_ptr0.data_ptr()", "out_ptr0.data_ptr()", "n", kind="int64_t").arguments
    assert found is not None and dict(found.scalars) == {"n": None}


@pytest.mark.parametrize("order", ["&a, &b", "&a, &c, &b", "&a, &b, &c, &c"])
def test_arguments_that_do_not_fit_the_signature(order: str) -> None:
    k = _handed("in_ptr0.data_ptr()", "out_ptr0.data_ptr()", "n", order)
    assert k.reason is not None


@pytest.mark.parametrize(
    ("line", "grid"),
    [
        ("grid_0 = 7;", const(7)),
        ("grid_0 += 1;", None),
        ("if (xnumel > 5) grid_0 = 9;", None),
        ("", const(2)),
    ],
)
def test_the_last_assignment_of_a_grid_counts(line: str, grid: object) -> None:
    text = wrapper("tl.store(out_ptr0 + tl.program_id(0), 1.0)", "out_ptr0:f xnumel:n", ("2", "1", "1"))
    (k,) = find_launchers(text.replace("    if (grid_0", f"    {line}\n    if (grid_0", 1), "w").values()
    assert (k.grid[0] if k.grid is not None else None) == grid


def test_a_source_with_escapes() -> None:
    text = wrapper(
        """
        \\"\\"\\"Copies.\\"\\"\\"
        x = tl.arange(0, 16)
        s = 'a\\\\\\\\b'
        tl.store(out_ptr0 + x, 1.0)
        """,
        "out_ptr0:f",
        ("1", "1", "1"),
    )
    (k,) = find_launchers(text, "w").values()
    assert k.reason is None and points(k, k.kernel.accesses[0]) == list(range(16))


def test_a_block_size_that_is_computed_with_is_looked_at_in_all_its_values() -> None:
    k = lower("tl.store(out_ptr0 + 64 // XBLOCK, 1.0)", "out_ptr0:f XBLOCK:c", ("1", "1", "1"))
    (a,) = k.kernel.accesses
    assert [a.index, *(o.access.index for o in a.alternatives if o.access)] == [
        const(64 // (1 << i)) for i in (6, 5, 4, 3, 2, 1, 0)
    ]
    assert not a.widest

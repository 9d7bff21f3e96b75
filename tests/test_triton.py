"""Triton kernels: real statement forms, with the indices they reach worked out by plain loops."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.kernels.triton.reader import find_launchers
from aoti_lint.analyzer.symbolic import TRUE, evaluate, evaluate_cond, sym
from triton_cases import ONE_D, accesses, lower, points, wrapper

POINTWISE = """
    xnumel = 100
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = {mask}
    x0 = xindex % 7
    x1 = (xindex // 7)
    x2 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 8*x1), {use}, eviction_policy='evict_last')
    tl.store(out_ptr0 + (x2), tmp0, {use})
"""


def test_pointwise() -> None:
    k = lower(POINTWISE.format(mask="xindex < xnumel", use="xmask"), "in_ptr0:f out_ptr0:f xnumel:n XBLOCK:c")
    load, store = k.kernel.accesses
    assert points(k, load, xnumel=100) == sorted(x % 7 + 8 * (x // 7) for x in range(100))
    assert points(k, store, xnumel=100) == list(range(100))
    # one variable for program and lane, under the source's name
    assert [(v.name, v.kind, v.extent) for v in store.vars] == [("xindex", "grid", 16 * sym("grid.0"))]
    assert dict(store.names) == {"x2": sym("xindex")} and load.text == "x0 + 8*x1"
    assert store.value_vars == {"xindex"} and [n.text for n in store.taken] == ["xindex"]
    assert [(p.name, p.pointer, p.dtype, p.readonly) for p in k.kernel.params] == [
        ("in_ptr0", True, "float32", True),
        ("out_ptr0", True, "float32", False),
        ("xnumel", False, "int32", False),
    ]
    assert k.params == ("in_ptr0", "out_ptr0", "xnumel") and k.kernel.alignments == (("in_ptr0", 16),)
    assert k.returns_when_empty and k.assumption == ""


def test_a_mask_that_is_always_true_leaves_the_whole_grid() -> None:
    body = POINTWISE.format(mask="tl.full([XBLOCK], True, tl.int1)[:]", use="None")
    k = lower(body, "in_ptr0:f out_ptr0:f xnumel:n XBLOCK:c")
    assert points(k, accesses(k, "out_ptr0")[0], xnumel=100) == list(range(112))  # 7 blocks of 16


def test_locations_are_those_of_the_wrapper() -> None:
    text = wrapper(
        POINTWISE.format(mask="xindex < xnumel", use="xmask"), "in_ptr0:f out_ptr0:f xnumel:n XBLOCK:c", ONE_D
    )
    (k,) = find_launchers("// first line\n" + text, "w.cpp").values()
    lines = ("// first line\n" + text).split("\n")
    for a in k.kernel.accesses:
        found = lines[a.loc.line - 1][a.loc.column - 1 : a.loc.end_column - 1]
        assert (
            a.loc.end_line == a.loc.line
            and found.startswith(f"tl.{a.kind}({a.param} + (")
            and found.endswith(")")
        )
    assert lines[k.kernel.loc.line - 1].strip().startswith("def triton_k_0(")
    assert lines[k.grid_loc.line - 1].strip() == f"uint32_t grid_0 = {ONE_D[0]};"
    assert "call_triton_k_0(" in lines[k.loc.line - 1]


def test_two_dimensions_with_a_split_second_grid_dimension() -> None:
    body = """
        ynumel = 50
        xnumel = 6
        yoffset = (tl.program_id(1) + tl.program_id(2) * tl.num_programs(1)) * YBLOCK
        yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
        ymask = yindex < ynumel
        xoffset = tl.program_id(0) * XBLOCK
        xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
        xmask = xindex < xnumel
        x2 = xindex
        y0 = (yindex % 5)
        y1 = yindex // 5
        tmp0 = tl.load(in_ptr0 + (x2 + 6*yindex), xmask & ymask)
        tl.store(out_ptr0 + (y0 + 5*x2 + 30*y1), tmp0, xmask & ymask)
    """
    sizes = (
        "((xnumel + (4 - 1)) / (4))",
        "((y_grid_raw_ + (y_grid_div_ - 1)) / (y_grid_div_))",
        "y_grid_div_",
    )
    text = wrapper(body, "in_ptr0:f out_ptr0:f ynumel:n xnumel:n YBLOCK:c XBLOCK:c", sizes)
    raw = "    uint32_t y_grid_raw_ = ((ynumel + (8 - 1)) / (8));\n    uint32_t y_grid_div_ = ((y_grid_raw_ + (3 - 1)) / (3));\n"
    (k,) = find_launchers(text.replace("    uint32_t grid_0", raw + "    uint32_t grid_0"), "w.cpp").values()
    assert k.grid is not None and [evaluate(g, {"ynumel": 50, "xnumel": 6}) for g in k.grid] == [2, 3, 3]
    load, store = k.kernel.accesses
    assert points(k, load, ynumel=50, xnumel=6) == list(range(300))
    assert points(k, store, ynumel=50, xnumel=6) == list(range(300))
    assert sorted(v.name for v in store.vars) == ["xindex", "yindex"]


REDUCTION = """
    xnumel = 5
    r0_numel = 40
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    rbase = r0_base
    x0 = xindex
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        rindex = r0_index
        r0_1 = r0_index
        tmp0 = tl.load(in_ptr0 + (r0_1 + 64*x0), r0_mask & xmask, other=0.0)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        tmp3 = _tmp2 + tmp1
        _tmp2 = tl.where(r0_mask & xmask, tmp3, _tmp2)
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp2, xmask)
"""


@pytest.mark.parametrize("hint", [8, 16, 64])
def test_a_looped_reduction_covers_its_range_for_every_block_size(hint: int) -> None:
    hints = f"{{'x': 8, 'r0_': {hint}}}"
    k = lower(REDUCTION, "in_ptr0:f out_ptr0:f xnumel:n r0_numel:n XBLOCK:c R0_BLOCK:c",
              ("((xnumel + (2 - 1)) / (2))", "1", "1"), hints=hints, heuristic="reduction")  # fmt: skip
    load, store = k.kernel.accesses
    assert points(k, load, xnumel=5) == sorted(r + 64 * x for r in range(40) for x in range(5))
    assert points(k, store, xnumel=5) == list(range(5))
    assert f"all powers of two up to {hint}" in k.assumption
    assert {v.name: v.kind for v in load.vars} == {"xindex": "grid", "r0_index": "loop"}
    assert store.value_vars == {"xindex"}  # what is summed no longer varies with the reduced index


def test_a_persistent_reduction_with_one_row_per_program() -> None:
    body = """
        xnumel = 9
        r0_numel = 12
        R0_BLOCK: tl.constexpr = 16
        xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
        xmask = xindex < xnumel
        r0_index = tl.arange(0, R0_BLOCK)[None, :]
        r0_mask = r0_index < r0_numel
        r0_1 = r0_index
        x0 = xindex
        tmp0 = tl.load(in_ptr0 + (r0_1 + 12*x0), r0_mask & xmask, other=0.0)
        tmp1 = triton_helpers.max2(tl.where(r0_mask & xmask, tmp0, float("-inf")), 1)[:, None].to(tl.float32)
        tl.store(out_ptr0 + (x0 + 9*r0_1), tmp0 - tmp1, r0_mask & xmask)
        tl.store(out_ptr1 + (x0), tmp1, xmask)
    """
    k = lower(body, "in_ptr0:f out_ptr0:f out_ptr1:f xnumel:n r0_numel:n XBLOCK:c", ("xnumel", "1", "1"))
    load, first, second = k.kernel.accesses
    assert points(k, load, xnumel=9) == list(range(108))
    assert points(k, first, xnumel=9) == list(range(108)) and first.value_vars == {"xindex", "r0_index"}
    assert points(k, second, xnumel=9) == list(range(9)) and second.value_vars == {"xindex"}
    assert {v.name: v.kind for v in first.vars} == {"xindex": "grid", "r0_index": "lane"}


GATHER = """
    xnumel = 6
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask, eviction_policy='evict_last')
    tmp1 = tl.full([XBLOCK], 50, tl.int32)
    tmp2 = tmp0 + tmp1
    tmp3 = tmp0 < 0
    tmp4 = tl.where(tmp3, tmp2, tmp0)
    {check}
    tmp6 = tl.load(in_ptr1 + (x0 + 8*tmp4), xmask)
    tl.atomic_add(out_ptr0 + (tmp4), tmp6, xmask, sem='relaxed')
"""


def test_an_asserted_loaded_index_is_bounded_by_the_assertion() -> None:
    check = 'tl.device_assert(((0 <= tmp4) & (tmp4 < 50)) | ~(xmask), "index out of bounds: 0 <= tmp4 < 50")'
    k = lower(GATHER.format(check=check), "in_ptr0:l in_ptr1:f out_ptr0:f xnumel:n XBLOCK:c")
    _, gather, atomic = k.kernel.accesses
    assert sorted(set(points(k, gather, xnumel=6))) == sorted(
        {x + 8 * t for x in range(6) for t in range(50)}
    )
    (data,) = [v for v in gather.vars if v.kind == "data"]
    assert (data.name, data.extent, data.lo, data.hi) == ("tmp4", None, 0, 49)
    assert atomic.kind == "atomic" and atomic.index == sym("tmp4") and atomic.index_bits == 64


def test_a_loaded_index_without_a_check_keeps_the_range_of_its_type() -> None:
    k = lower(GATHER.format(check="pass"), "in_ptr0:l in_ptr1:f out_ptr0:f xnumel:n XBLOCK:c")
    (data,) = [v for v in accesses(k, "in_ptr1")[0].vars if v.kind == "data"]
    assert (data.name, data.lo, data.hi) == ("tmp0", -(2**63), 2**63 - 1)


def test_concatenation_reads_each_source_under_its_own_condition() -> None:
    body = """
        xnumel = 60
        xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
        xmask = xindex < xnumel
        x0 = (xindex % 20)
        x1 = xindex // 20
        x2 = xindex
        tmp0 = x0
        tmp1 = tl.full([1], 0, tl.int64)
        tmp2 = tmp0 >= tmp1
        tmp3 = tl.full([1], 8, tl.int64)
        tmp4 = tmp0 < tmp3
        tmp5 = tl.load(in_ptr0 + (8*x1 + (x0)), tmp4 & xmask, other=0.0)
        tmp6 = tmp0 >= tmp3
        tmp7 = tl.full([1], 20, tl.int64)
        tmp8 = tmp0 < tmp7
        tmp9 = tl.load(in_ptr1 + (12*x1 + ((-8) + x0)), xmask, other=0.0)
        tmp10 = tl.where(tmp4, tmp5, tmp9)
        tl.store(out_ptr0 + (x2), tmp10, xmask)
    """
    k = lower(body, "in_ptr0:f in_ptr1:f out_ptr0:f xnumel:n XBLOCK:c")
    first, second, _ = k.kernel.accesses
    assert points(k, first, xnumel=60) == list(range(24)) and first.used == TRUE
    # the second load has no condition of its own: it starts before the tensor, but those values are discarded
    assert points(k, second, xnumel=60) == sorted(12 * (x // 20) + x % 20 - 8 for x in range(60))
    kept = [x for x in range(60) if evaluate_cond(second.used, {"xindex": x})]
    assert kept == [x for x in range(60) if x % 20 >= 8]


def test_a_condition_on_loaded_values_is_opaque() -> None:
    body = """
        xnumel = 20
        xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
        xmask = xindex < xnumel
        x0 = xindex
        tmp0 = tl.load(in_ptr0 + (x0), xmask).to(tl.int1)
        tmp1 = tl.load(in_ptr1 + (x0), tmp0 & xmask)
        tmp2 = tmp1 > 0.5
        tl.store(out_ptr0 + (x0), tmp1, xmask & tmp2)
    """
    k = lower(body, "in_ptr0:b in_ptr1:f out_ptr0:f xnumel:n XBLOCK:c")
    assert [a.guard.has_opaque() for a in k.kernel.accesses] == [False, True, True]
    assert all([v.name for v in a.vars] == ["xindex"] for a in k.kernel.accesses)


def test_rounding_towards_zero_is_kept_where_the_sign_is_not_known() -> None:
    body = """
        xnumel = 12
        xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
        xmask = xindex < xnumel
        tmp0 = tl.load(in_ptr0 + (7 + ((-5 + xindex) // 2)), xmask)
        tmp1 = tl.load(in_ptr0 + (7 + ((-5 + xindex) % 3)), xmask & (xindex > 4))
        tl.store(out_ptr0 + (4 + ((-5 + xindex) % 3)), tmp0 + tmp1, xmask)
    """
    k = lower(body, "in_ptr0:f out_ptr0:f xnumel:n XBLOCK:c")
    half, third, store = k.kernel.accesses
    assert points(k, half, xnumel=12) == sorted(7 + int((x - 5) / 2) for x in range(12))
    assert points(k, store, xnumel=12) == sorted(4 + (x - 5) - 3 * int((x - 5) / 3) for x in range(12))
    # under its guard the last one is never negative, and simplifies to a remainder
    assert points(k, third, xnumel=12) == sorted(7 + (x - 5) % 3 for x in range(5, 12))
    assert "tmod" not in {getattr(a, "kind", "") for a in (third.index or sym("x")).atoms()}


def test_branchless_minimum_and_absolute_value() -> None:
    body = """
        xnumel = 30
        xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
        xmask = xindex < xnumel
        x0 = xindex
        tmp0 = tl.load(in_ptr0 + (((9) * ((9) <= (x0)) + (x0) * ((x0) < (9)))), xmask)
        tmp1 = tl.load(in_ptr0 + (19 + ((-1)*tl_math.abs((-19) + tl_math.abs((-4) + x0)))), xmask)
        tl.store(out_ptr0 + (x0), tmp0 + tmp1, xmask)
    """
    k = lower(body, "in_ptr0:f out_ptr0:f xnumel:n XBLOCK:c")
    smaller, mirrored, _ = k.kernel.accesses
    assert points(k, smaller, xnumel=30) == sorted(min(9, x) for x in range(30))
    assert points(k, mirrored, xnumel=30) == sorted(19 - abs(abs(x - 4) - 19) for x in range(30))


def test_sizes_given_as_arguments() -> None:
    body = """
        xoffset = tl.program_id(0).to(tl.int64) * XBLOCK
        xindex = xoffset + tl.arange(0, XBLOCK)[:].to(tl.int64)
        xmask = xindex < xnumel
        x0 = (xindex % ks0)
        x1 = xindex // ks0
        tmp0 = tl.load(in_ptr0 + (x0 + 3*ks0*x1), xmask)
        tl.store(out_ptr0 + (xindex), tmp0, xmask)
    """
    k = lower(body, "in_ptr0:f out_ptr0:f ks0:N xnumel:N XBLOCK:c")
    load = accesses(k, "in_ptr0")[0]
    assert points(k, load, ks0=5, xnumel=23) == sorted(x % 5 + 15 * (x // 5) for x in range(23))
    assert load.index_bits == 64


def test_what_is_not_understood_is_reported_where_it_may_touch_memory() -> None:
    body = """
        xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
        tmp0 = strange(xindex)
        helper(out_ptr0 + 4, tmp0)
        values = [tl.load(in_ptr0 + i) for i in range(3)]
        tl.store(out_ptr0 + (xindex), tmp0, xindex < xnumel)
    """
    text = wrapper(body, "in_ptr0:f out_ptr0:f xnumel:n XBLOCK:c", ONE_D)
    (k,) = find_launchers(text, "w.cpp").values()
    lines = text.split("\n")
    followed, *lost = k.kernel.accesses
    assert (followed.kind, followed.param) == ("store", "out_ptr0") and followed.index is not None
    assert [(a.kind, a.param, lines[a.loc.line - 1].strip()) for a in lost] == [
        ("store", "out_ptr0", "helper(out_ptr0 + 4, tmp0)"),
        ("load", "in_ptr0", "values = [tl.load(in_ptr0 + i) for i in range(3)]"),
    ]
    assert all(a.index is None and a.reason for a in lost)


@pytest.mark.parametrize(
    ("index", "certain"),
    [
        ("tmp0", True),
        ("tmp0 + 3", True),
        ("libdevice.log(tmp1).to(tl.int64)", False),
        ("tmp0 ^ (tmp0 + 3)", False),
    ],
)
def test_memory_can_hold_any_index_but_a_computed_one_may_never_come(index: str, certain: bool) -> None:
    k = lower(
        f"""
    xnumel = 100
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + (xindex), xmask)
    tmp1 = tl.load(in_ptr1 + (xindex), xmask)
    tmp2 = {index}
    tmp3 = tl.load(in_ptr2 + (tmp2), xmask)
    tl.store(out_ptr0 + (xindex), tmp3, xmask)
""",
        "in_ptr0:i in_ptr1:f in_ptr2:f out_ptr0:f xnumel:n XBLOCK:c",
    )
    (a,) = accesses(k, "in_ptr2")
    assert a.guard.has_opaque() != certain

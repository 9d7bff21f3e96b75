"""Profiles: which one a name means, and what each does with the layouts known from executions."""

from __future__ import annotations

import re
import time

import pytest
from aoti_lint.analyzer.runtimes import all_profiles, resolve
from aoti_lint.analyzer.symbolic import ZERO, const, sym
from aoti_lint.analyzer.symbolic.assumptions import Ranges
from runtime_cases import HERE, NO, PARENT, alloc, exprs, layout, values, view

# -- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("libtorch", "libtorch@2.15"),
        ("libtorch-arrayref", "libtorch-arrayref@2.15"),
        ("executorch-metal", "executorch-metal@2026-09"),
        ("executorch-cuda", "executorch-cuda@2026-09"),
        ("executorch-metal@2026-05-01", "executorch-metal@2026-04-27"),
        ("executorch-metal@2026-01", "executorch-metal@2026-01-14"),
        ("executorch-metal@2026-01-13", "executorch-metal@2025-12-08"),
        ("executorch-metal@2026-04", "executorch-metal@2026-04-27"),
        ("executorch-metal@2026-08-21", "executorch-metal@2026-07-09"),
        ("executorch-metal@2026-10", "executorch-metal@2026-09"),
        ("executorch-metal@proposed", "executorch-metal@proposed"),
        ("executorch-cuda@2025-01", "executorch-cuda@2025-10-20"),
        ("executorch-cuda@2025-12", "executorch-cuda@2025-10-21"),
        ("m0a", "executorch-metal@2025-10-16"),
        ("executorch-metal@m1", "executorch-metal@2026-01-14"),
        ("executorch-metal-m3", "executorch-metal@proposed"),
        ("v2", "executorch-cuda@2026-08"),
    ],
)
def test_names(asked, meant):
    assert resolve(asked).name == meant


def test_auto_follows_the_device():
    assert {d: resolve("auto", d).family for d in ("cpu", "cuda", "mps")} == {
        "cpu": "libtorch", "cuda": "libtorch", "mps": "executorch-metal",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("executorch-mettal", "executorch-metal"),
        ("libtorh", "libtorch"),
        ("executorch-metal@2025-01", "2025-10-16"),
        ("executorch-metal@2026-13", "executorch-metal@2026"),
        ("libtorch@2026-01", "libtorch@2.1"),
        ("", "libtorch"),
    ],
)
def test_unknown_names_are_told_near_ones(asked, hint):
    with pytest.raises(LookupError, match=re.escape(hint)):
        resolve(asked)


def test_only_the_proposed_profile_is_proposed():
    assert [p.name for p in all_profiles() if p.proposed] == ["executorch-metal@proposed"]
    assert {f"{p.name}.toml" for p in all_profiles()} == {f.name for f in HERE.glob("*@*.toml")}


def test_loading_is_quick():
    from aoti_lint.analyzer.runtimes import catalog

    best = 1.0
    for _ in range(5):
        catalog._load.cache_clear()
        catalog._tables.cache_clear()
        catalog._families.cache_clear()
        start = time.process_time()
        resolve("executorch-metal")
        best = min(best, time.process_time() - start)
    assert best < 0.05  # seconds; 0.007 on an idle machine


# -- allocation ---------------------------------------------------------------------------------


def test_metal_allocates_elements_and_carries_canonical_strides():
    a = alloc("executorch-metal", (2, 1, 7, 9), (63, 1, 9, 1))
    assert (a.kind, a.capacity.value, values(a.strides)) == ("ok", 126, (63, 9, 9, 1))
    kept = alloc("executorch-metal@proposed", (2, 1, 7, 9), (63, 1, 9, 1))
    assert values(kept.strides) == (63, 1, 9, 1)


@pytest.mark.parametrize(
    ("name", "sizes", "strides", "dtype", "device", "effect", "fact"),
    [
        ("m2", (2, 3), (8, 1), "float32", "mps", "abort", "alloc.layout"),
        ("m2", (2, 3), (0, 1), "float32", "mps", "abort", "alloc.layout"),
        ("m2", (4,), (1,), "float16", "mps", "error", "alloc.dtype"),
        ("m2", (4,), (1,), "float32", "cuda", "error", "alloc.device"),
        ("m2", (0, 4), (4, 1), "float32", "mps", "error", "alloc.empty"),
        ("m2", (1,) * 17, (1,) * 17, "float32", "mps", "abort", "alloc.rank"),
        ("m2", (2**31,), (1,), "float32", "mps", "abort", "alloc.size"),
        ("m1", (4,), (1,), "int32", "mps", "error", "alloc.dtype"),
        ("m3", (2, 3), (8, 1), "float32", "mps", "error", "alloc.layout"),
        ("v2", (4,), (1,), "float64", "cuda", "abort", "alloc.dtype"),
        ("v2", (4,), (1,), "float32", "mps", "abort", "alloc.device"),
        ("v1", (4,), (1,), "float16", "cuda", "error", "alloc.dtype"),
        ("v0", (2, 3), (8, 1), "float32", "cuda", "abort", "alloc.layout"),
        ("libtorch", (2, 3), (-3, 1), "float32", "cpu", "error", "alloc.negative-stride"),
    ],
)
def test_refused_allocations(name, sizes, strides, dtype, device, effect, fact):
    a = alloc(name, sizes, strides, dtype, device)
    assert (a.kind, a.effect, a.fact) == ("reject", effect, fact)


@pytest.mark.parametrize(
    ("name", "sizes", "strides", "device", "capacity"),
    [
        ("libtorch", (2, 3), (8, 1), "cpu", 11),
        ("libtorch", (0, 3), (8, 1), "cpu", 0),
        ("v2", (2, 3), (8, 1), "cuda", 11),
        ("v1", (2, 3), (8, 1), "cuda", 11),
        ("m2", (0, 3), (3, 1), "cpu", 0),
        ("m2", (1, 4), (8, 1), "mps", 4),
        ("m3", (0, 3), (3, 1), "mps", 1),
    ],
)
def test_capacity(name, sizes, strides, device, capacity):
    a = alloc(name, sizes, strides, device=device)
    assert (a.kind, a.capacity.value) == ("ok", capacity)


def test_slim_tensor_counts_negative_strides_and_then_drops_them():
    a = alloc("v2", (2, 3), (-3, 1), device="cuda")
    assert (a.kind, a.capacity.value, values(a.strides)) == ("ok", 0, (3, 1))


def test_dtypes_by_date():
    def accepted(name):
        return {d for d in ("uint8", "int32", "bool") if alloc(name, (4,), (1,), d).kind == "ok"}

    assert accepted("executorch-metal@2026-01") == set()
    assert accepted("executorch-metal@2026-03") == {"uint8"}
    assert accepted("executorch-metal@2026-04-20") == {"uint8", "int32", "bool"}


def test_padded_dynamic_allocation():
    s = sym("s77")
    at_least_two = alloc("executorch-metal", (s, 5), (8, 1), ranges=Ranges({"s77": (2, 64)}))
    assert (at_least_two.kind, at_least_two.effect) == ("reject", "abort")
    open_case = alloc("executorch-metal", (s, 5), (8, 1), ranges=Ranges({"s77": (1, 64)}))
    assert (open_case.kind, open_case.capacity) == ("unknown", 5 * s)
    assert open_case.cases == (("ok", (("s77", 1),)), ("reject", (("s77", 2),)))
    assert "permutation" in open_case.condition


def test_constants():
    metal = resolve("executorch-metal")
    assert metal.constant(exprs((4, 4)), exprs((4, 1)), "float32", "mps", NO).kind == "ok"
    assert metal.constant(exprs((0,)), exprs((1,)), "float32", "mps", NO).bug == "MET-NULL-CONST"
    assert metal.constant(exprs((4, 4)), exprs((8, 1)), "float32", "mps", NO).effect == "abort"
    assert resolve("m3").constant(exprs((0,)), exprs((1,)), "float32", "mps", NO).kind == "ok"


# -- views --------------------------------------------------------------------------------------


def test_channel_slice_becomes_a_packed_copy():
    v = view("executorch-metal", PARENT, (1, 32, 80, 80), (819200, 1, 10240, 128), 32)
    assert (v.kind, v.capacity, v.offset) == ("copy", const(204800), ZERO)
    assert values(v.strides) == (204800, 6400, 80, 1)
    assert (v.bug, v.ordered) == ("MET-PACKED-COPY-NOSYNC", False)
    assert "extent 819104, 204800 elements" in v.reason
    at_start = view("executorch-metal", PARENT, (1, 32, 80, 80), (819200, 1, 10240, 128))
    assert (at_start.kind, at_start.bug, at_start.ordered) == ("copy", "MET-PACKED-COPY", True)


def test_channel_slice_elsewhere():
    args = (PARENT, (1, 32, 80, 80), (819200, 1, 10240, 128), 32)
    assert view("libtorch", *args).kind == "alias"
    assert view("v2", *args).kind == "alias"
    assert (view("m1", *args).kind, view("m1", *args).effect) == ("reject", "abort")
    assert (view("m0", *args).kind, view("m0", *args).error) == ("reject", "InvalidArgument")
    assert view("v1", *args).error == "InvalidArgument"
    proposed = view("m3", *args)
    assert (proposed.kind, proposed.gathered, proposed.offset.value) == ("alias", True, 32)
    assert values(proposed.strides) == (819200, 1, 10240, 128)
    assert proposed.capacity == const(819200)


@pytest.mark.parametrize(("sizes", "strides"), [((3, 3), (2, 2)), ((2, 3), (5, 0)), ((0, 4), (8, 1))])
def test_layouts_that_pass_for_packed_stop_the_process(sizes, strides):
    v = view("executorch-metal", layout((9,), capacity=9), sizes, strides)
    assert (v.kind, v.effect, v.bug) == ("reject", "abort", "MET-VIEW-BLINDSPOT")
    assert view("libtorch", layout((9,), capacity=9), sizes, strides).kind == "alias"


def test_expanded_view():
    base = layout((8,), capacity=8)
    v = view("executorch-metal", base, (8, 4), (1, 0))
    assert (v.kind, v.capacity, values(v.strides)) == ("copy", const(32), (4, 1))
    assert view("m0a", base, (8, 4), (1, 0)).effect == "abort"


def test_dense_view_at_an_offset():
    base = layout((12, 16), capacity=192)
    kinds = {}
    for name in ("libtorch", "m0a", "m0", "m1", "m2", "m3", "v0", "v1", "v2"):
        v = view(name, base, (6, 16), (16, 1), 96)
        kinds[name] = (v.kind, v.binding, v.ordered, v.leaks)
        assert v.kind == "reject" or v.offset.value == 96
    plain, second = ("alias", "storage", True, False), ("alias", "second-buffer", False, True)
    refused = ("reject", "storage", True, False)
    assert kinds == {
        "libtorch": plain, "m0a": ("alias", "by-value", True, False), "m0": refused, "m1": second,
        "m2": second, "m3": plain, "v0": refused, "v1": refused, "v2": plain,
    }  # fmt: skip


def test_slim_tensor_offsets_are_absolute():
    base = layout((4, 12), offset=48, capacity=96, device="cuda")
    v = view("executorch-cuda", base, (4, 12), (12, 1), 0)
    assert (v.kind, v.offset.value, v.expected_offset.value) == ("alias", 0, 48)
    assert view("libtorch", base, (4, 12), (12, 1), 0).offset.value == 48
    assert view("executorch-cuda", base, (4, 12), (12, 1), -1).effect == "abort"


def test_negative_strides():
    base = layout((2, 3), capacity=6)
    for name in ("libtorch", "v2"):
        v = view(name, base, (2, 3), (-3, 1))
        assert (v.kind, values(v.strides)) == ("alias", (3, 1))
    assert view("m2", base, (2, 3), (-3, 1)).kind == "copy"
    assert view("m1", base, (2, 3), (-3, 1)).effect == "abort"
    assert view("m3", base, (2, 3), (-3, 1)).error == "InvalidArgument"
    assert view("v1", base, (2, 3), (-3, 1)).kind == "unknown"


def test_proposed_runtime_checks_bounds():
    base = layout((9,), capacity=9)
    assert view("m3", base, (3, 3), (3, 1), 1).fact == "view.bounds"
    assert view("m3", base, (3, 3), (2, 2)).kind == "alias"
    cpu = layout((9,), capacity=9, device="cpu")
    copy = view("m3", cpu, (3, 3), (2, 2))
    assert (copy.kind, values(copy.strides)) == ("copy", (3, 1))
    assert view("m2", cpu, (4,), (1,), 2).bug == "MET-OFFSET-CPU"


def test_dynamic_views():
    s, t = sym("s77"), sym("s27")
    ranges = Ranges({"s77": (2, None), "s27": (0, None)})
    base = layout((64,), capacity=4096)
    slices = view("m2", base, (s, 4), (8, 1), ranges=ranges)
    assert (slices.kind, slices.capacity) == ("copy", 4 * s)
    maybe = view("m2", base, (s, 4), (8, 1), ranges=Ranges({"s77": (1, None)}))
    assert maybe.kind == "unknown"
    assert maybe.cases == (("alias", (("s77", 1),)), ("copy", (("s77", 2),)))
    assert maybe.reason == "differs by size: alias at s77 = 1; copy at s77 = 2"
    assert "packed" in maybe.condition
    moved = view("m2", base, (s, 4), (4, 1), offset=8 * t, ranges=ranges)
    assert (moved.kind, moved.ordered, moved.leaks) == ("alias", True, False)  # the offset may be 0


def test_pool_members_count_bytes():
    pool = layout((16384,), dtype="uint8", capacity=16384, device="cpu")
    v = view("libtorch", pool, (2048,), (1,), 4096, how="pool", dtype="float32")
    assert (v.kind, v.offset.value, v.capacity) == ("alias", 1024, const(4096))
    odd = view("libtorch", pool, (4,), (1,), 6, how="pool", dtype="float32")
    assert (odd.offset.value, odd.bug) == (1, "LT-POOL-OFFSET")
    off = layout((8,), offset=4, capacity=64, device="cpu")
    assert view("libtorch", off, (4,), (1,), 0, how="pool").kind == "reject"
    assert view("executorch-cuda", pool, (4,), (1,), 0, how="pool", dtype="float32").kind == "unknown"


def test_other_views_keep_the_offset():
    base = layout((4, 4), offset=8, capacity=64, dtype="float32", device="cpu")
    assert view("libtorch", base, (4,), (1,), 0, how="as_strided").offset.value == 8
    bits = view("libtorch", base, (4, 8), (8, 1), 0, how="dtype", dtype="int16")
    assert (bits.offset.value, bits.capacity) == (16, const(128))
    same = resolve("executorch-metal").view(base, None, None, ZERO, "alias", NO)
    assert (same.kind, same.offset.value, values(same.strides)) == ("alias", 8, (4, 1))
    missing = view("executorch-metal", base, (4,), (1,), 0, how="as_strided")
    assert (missing.kind, missing.fact) == ("unknown", "symbols")


# -- copies and clones --------------------------------------------------------------------------

DENSE = layout((2, 3, 4, 4))
LAST = layout((2, 3, 4, 4), (48, 1, 12, 3))
ROW, SCALARS = layout((3,)), layout((2, 3))


@pytest.mark.parametrize(
    ("name", "dst", "src", "kind", "error"),
    [
        ("libtorch", DENSE, LAST, "ok", ""),
        ("libtorch", SCALARS, ROW, "ok", ""),
        ("libtorch", ROW, SCALARS, "reject", "error"),
        ("libtorch", layout((2, 3), (0, 1)), SCALARS, "reject", "error"),
        ("m2", DENSE, DENSE, "ok", ""),
        ("m2", DENSE, LAST, "reject", "NotImplemented"),
        ("m2", layout((4, 1, 7)), layout((4, 1, 7), (7, 28, 1)), "reject", "NotImplemented"),
        ("m3", layout((4, 1, 7)), layout((4, 1, 7), (7, 28, 1)), "ok", ""),
        ("m2", SCALARS, ROW, "reject", "InvalidArgument"),
        ("m2", SCALARS, layout((2, 3), dtype="int64"), "reject", "InvalidArgument"),
        ("m2", layout((6,)), SCALARS, "reject", "NotImplemented"),
        ("m2", SCALARS, layout((6,)), "reject", "undefined"),
        ("m3", SCALARS, layout((6,)), "ok", ""),
        ("m2", layout((0,)), layout((0,)), "reject", "Internal"),
        ("m3", layout((2, 3), (8, 1), gathered=True), SCALARS, "reject", "NotSupported"),
        ("m3", SCALARS, layout((2, 3), (8, 1), gathered=True), "ok", ""),
        ("v2", DENSE, LAST, "ok", ""),
        ("v2", SCALARS, ROW, "reject", "abort"),
        ("v2", SCALARS, layout((2, 3), dtype="int64"), "reject", "abort"),
        ("v1", DENSE, LAST, "ok", ""),
        ("v1", SCALARS, layout((2, 3), (8, 1)), "corrupt", ""),
        ("v1", layout((2, 3), dtype="int64"), layout((2, 3), (1, 2), dtype="int64"), "corrupt", ""),
        ("v1", layout((2, 3), dtype="int64"), layout((2, 3), dtype="int64"), "ok", ""),
    ],
)
def test_copies(name, dst, src, kind, error):
    outcome = resolve(name).copy(dst, src, NO)
    assert (outcome.kind, outcome.error) == (kind, error)


def test_copy_to_the_cpu_is_marked():
    outcome = resolve("executorch-metal").copy(layout((3,), device="cpu"), ROW, NO)
    assert (outcome.kind, outcome.bug) == ("ok", "MET-D2H-ORDER")


def test_clones():
    metal, torch, cuda = (resolve(n) for n in ("executorch-metal", "libtorch", "executorch-cuda"))
    assert metal.clone(DENSE, NO).error == "throws"
    assert resolve("m0a").clone(DENSE, NO).error == "absent"
    assert resolve("m0").clone(DENSE, NO).kind == "unknown"
    assert values(torch.clone(LAST, NO).strides) == (48, 1, 12, 3)
    padded = layout((2, 3), (8, 1))
    assert values(torch.clone(padded, NO).strides) == (3, 1)
    assert values(torch.clone(padded, NO, preserve_strides=True).strides) == (8, 1)
    assert (values(cuda.clone(padded, NO).strides), cuda.clone(padded, NO).capacity.value) == ((8, 1), 11)


# -- edges --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "tensor", "kind"),
    [
        ("libtorch", LAST, "ok"),
        ("m2", DENSE, "ok"),
        ("m2", LAST, "reject"),
        ("m2", layout((4, 1, 7), (7, 28, 1)), "reject"),
        ("m3", layout((4, 1, 7), (7, 28, 1)), "ok"),
        ("m3", layout((2, 3), (8, 1), gathered=True), "ok"),
        ("m2", layout((0, 4), (4, 1)), "reject"),
        ("v2", DENSE, "ok"),
        ("v2", LAST, "reject"),
        ("v2", layout((4, 4), offset=16), "reject"),
        ("v2", layout((4, 1, 7), (7, 28, 1)), "ok"),
        ("v1", DENSE, "ok"),
    ],
)
def test_outputs(name, tensor, kind):
    assert resolve(name).output(tensor, NO).kind == kind


def test_inputs_and_kernel_arguments():
    metal = resolve("executorch-metal")
    assert metal.input(LAST, NO).kind == "reject"
    assert metal.input(layout((4, 1, 7), (7, 28, 1)), NO).kind == "ok"
    assert resolve("executorch-cuda").input(LAST, NO).kind == "ok"
    cpu = layout((4,), device="cpu")
    assert [resolve(n).kernel_arg(cpu, NO).kind for n in ("libtorch", "m2", "v2")] == [
        "reject", "copied", "ok",
    ]  # fmt: skip
    assert resolve("libtorch").kernel_arg(layout((), device="cpu"), NO).kind == "ok"
    assert resolve("executorch-cuda").output_facts.duplicates == "double-release"

"""Stores that race, arguments that alias, views that overlap: numbers by hand."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.concurrency.aliased_parameters import Hazard, _of_storage
from aoti_lint.analyzer.concurrency.conflicts import agree
from aoti_lint.analyzer.concurrency.pairs import POINTS, clashes, meetings, points
from aoti_lint.analyzer.concurrency.self_overlap import _overlap
from aoti_lint.analyzer.concurrency.write_races import Race, _of_parameter, rivals
from aoti_lint.analyzer.memory.trace import Verdict
from aoti_lint.analyzer.model.kernel import Lock, Param, Var
from aoti_lint.analyzer.model.record import replace
from aoti_lint.analyzer.symbolic import (
    TRUE,
    Expr,
    as_expr,
    compare,
    const,
    evaluate,
    floordiv,
    maximum,
    mod,
    opaque,
    sym,
)
from aoti_lint.analyzer.symbolic.assumptions import Ranges
from race_cases import access, aliased, launch, var

x, y, r, s = sym("x"), sym("y"), sym("r"), sym("s")


def race(group: list[Verdict], ranges: Ranges | None = None) -> Race | None:
    stores = [v for v in group if v.access.kind == "store"]
    return next(_of_parameter(stores, group, ranges or Ranges()), None)


# -- AL206


def test_threads_that_leave_out_the_row() -> None:
    xs = [var("x", 256)]
    found = race(launch([access("load", "in", x, xs), access("store", "out", mod(x, 64), xs, "x")]))
    assert found is not None and found.certain
    assert (found.first, found.second, found.element) == ({"x": 0}, {"x": 64}, 0)


@pytest.mark.parametrize(
    ("lock", "apart"),
    [
        (mod(x, 4), True),  # a lock for each element
        (const(0), True),  # one for all
        (mod(x, 2), True),  # those that meet agree modulo 4, so modulo 2 as well
        (floordiv(x, 4), False),  # 0 and 4 meet at element 0 and hold locks 0 and 1
    ],
)
def test_stores_under_one_lock_do_not_meet(lock: Expr, apart: bool) -> None:
    xs = [var("x", 8)]
    load = access("load", "in", x, xs)
    store = replace(access("store", "out", mod(x, 4), xs, "x"), lock=Lock("locks", lock))
    assert (race(launch([load, store])) is None) is apart
    other = replace(store, lock=Lock("others", lock))
    assert race(launch([load, replace(store, index=mod(x, 4)), other])) is not None
    assert race(launch([load, store, replace(store, lock=None)])) is not None


def test_every_thread_its_own_element() -> None:
    xs = [var("x", 256)]
    for index in (x, 3 * x + 1, mod(x, 64) + 64 * floordiv(x, 64), 255 - x):
        assert race(launch([access("store", "out", index, xs, "x")])) is None


def test_one_value_from_all_threads_is_no_race() -> None:
    both = [var("x", 4), var("r", 8)]
    assert race(launch([access("store", "out", x, both, "x")])) is None
    assert race(launch([access("store", "out", x, both, "xr")])) is not None
    assert race(launch([access("store", "out", 0, both, "")])) is None


def test_a_value_of_unknown_origin_is_a_suspicion() -> None:
    both = [var("x", 4), var("r", 8)]
    found = race(launch([access("store", "out", x, both, None)]))
    assert found is not None and not found.certain


def test_what_both_read_from_one_element_may_be_equal() -> None:
    """``out[x % 4] = in[x % 4]``: all stores to an element bring the same value."""
    xs = [var("x", 8)]
    same = race(launch([access("load", "in", mod(x, 4), xs), access("store", "out", mod(x, 4), xs, "x")]))
    assert same is not None and not same.certain
    # x = 0, 4 and 8 store to element 0; only 0 and 8 read different ones: 0 and 1
    nine = [var("x", 9)]
    group = launch([access("load", "in", floordiv(x, 8), nine), access("store", "out", mod(x, 4), nine, "x")])
    found = race(group)
    assert found is not None and found.certain and found.second == {"x": 8}


def test_ordinary_loops_do_not_race() -> None:
    for kind, races in (("loop", False), ("parallel", True)):
        loops = [var("x", 4, kind, 1), var("y", 6, "loop", 2)]  # type: ignore[arg-type]
        group = launch(
            [access("load", "in", x * 6 + y, loops), access("store", "out", y, loops, "xy")], dialect="cpp"
        )
        found = race(group)
        assert (found is not None) == races
        if found is not None:
            assert found.first == {"x": 0, "y": 0} and found.second == {"x": 1, "y": 0}


def test_guards_must_hold_for_both() -> None:
    """x and x + 64 share an element of 64, and only one of them is below 64."""
    xs = [var("x", 128)]
    assert race(launch([access("store", "out", mod(x, 64), xs, "x", compare("<", x, 64))])) is None
    assert race(launch([access("store", "out", mod(x, 64), xs, "x", compare("<", x, 65))])) is not None


def test_guards_on_data_leave_a_doubt() -> None:
    xs = [var("x", 128), Var("t", None, "data", 0, 7)]
    load = access("load", "in", x, xs[:1])
    for guard in (opaque("d"), compare("<", sym("t"), 3)):
        found = race(launch([load, access("store", "out", mod(x, 64), xs, "x", guard)]))
        assert found is not None and found.doubt == "whether both store depends on data"
        below = compare("<", x, 64) & guard
        assert race(launch([load, access("store", "out", mod(x, 64), xs, "x", below)])) is None


def test_only_loads_of_what_the_value_depends_on_count() -> None:
    """Iterations (0, 1) and (1, 0) meet at element 1; the value depends on y, and what y loads is one element."""
    both = [var("x", 2), var("y", 2)]
    store = access("store", "out", x + y, both, "y")
    found = race(launch([access("load", "in", x, both), store]))
    assert found is not None and not found.certain
    found = race(launch([access("load", "in", y, both), store]))
    assert found is not None and found.certain


def test_lanes_race_within_one_store_only() -> None:
    # 8 lanes that advance by 4: lane 4 of round 0 and lane 0 of round 1 are one element, one after the other
    rounds = [var("x", 2, "loop", 1), var("r", 8, "lane")]
    assert race(launch([access("store", "out", 4 * x + r, rounds, "xr")], dialect="cpp")) is None
    assert (
        race(launch([access("store", "out", 4 * x + floordiv(r, 2), rounds, "xr")], dialect="cpp"))
        is not None
    )


def test_places_in_a_group_are_not_independent() -> None:
    xs = [var("x", 8), Var("t", sym("group.0"), "grid")]
    group = launch([access("store", "out", x + sym("t"), xs, ("x", "t"))])
    assert race(group, Ranges({"group.0": (4, 4)})) is None


def test_sizes_at_which_it_happens() -> None:
    xs = [var("x", 3 * s)]
    ranges = Ranges({"s": (2, 512)})
    group = launch([access("load", "in", x, xs), access("store", "out", mod(x, s), xs, "x")], ranges=ranges)
    found = race(group, ranges)
    assert found is not None and found.sizes == {"s": 2}
    assert (found.first, found.second) == ({"x": 0}, {"x": 2})


def test_two_stores_in_one_parallel_loop() -> None:
    """Rows of 10: the tail of row x starts at element 8 of it, or at 10, which is the next row's first."""
    for start, races in ((8, False), (10, True)):
        outer = var("x", 5, "parallel", 1)
        main, tail = [outer, var("y", 8, "loop", 2)], [outer, var("y", 2, "loop", 3)]
        group = launch(
            [
                access("load", "in", 10 * x + y, main),
                access("store", "out", 10 * x + y, main, "xy"),
                access("store", "out", 10 * x + start + y, tail, "xy"),
            ],
            dialect="cpp",
        )
        found = race(group)
        assert (found is not None) == races
        if found is not None:
            assert found.store.index == 10 * x + y and found.other.index == 10 * x + 10 + y
            assert found.first["x"] == found.second["x"] + 1 and found.certain


def test_loops_of_the_same_form_one_after_the_other() -> None:
    first, second = [var("x", 5, "parallel", 1)], [var("x", 5, "parallel", 2)]
    stores = [access("store", "out", x, first, "x"), access("store", "out", 4 - x, second, "x")]
    assert race(launch(stores, dialect="cpp")) is None
    stores[1] = access("store", "out", 4 - x, first, "x")
    assert race(launch(stores, dialect="cpp")) is not None


# -- AL207


def hazard(group: list[Verdict], ranges: Ranges | None = None) -> Hazard | None:
    return next(_of_storage(group, ranges or Ranges()), None)


def in_place(
    read: Expr, write: Expr, variables: list[Var], dialect: str, offsets: tuple[int, int] = (0, 0), **more
):  # type: ignore[no-untyped-def]
    """``out[write] = f(in[read])`` with both at offsets of one storage."""
    src, dst = aliased(*offsets)
    accesses = [
        access("load", "in", read, variables, **more),
        access("store", "out", write, variables, ("x", "y")),
    ]
    return launch(accesses, {"in": src, "out": dst}, dialect)


def test_rows_read_after_they_were_overwritten() -> None:
    """Four rows of 8 in order: row 2 reads row 3 - 2 = 1."""
    loops = [var("x", 4, "loop", 1), var("y", 8, "loop", 2)]
    found = hazard(in_place(24 + y - 8 * x, y + 8 * x, loops, "cpp"))
    assert found is not None and found.meeting is not None and not found.meeting.concurrent
    m = found.meeting
    assert (m.first, m.second, m.element) == ({"x": 2, "y": 0}, {"x": 1, "y": 0}, 8)


@pytest.mark.parametrize(
    ("read", "offsets", "dialect", "fault"),
    [
        (x, (0, 0), "cpp", False),  # in place
        (x, (0, 1), "cpp", True),  # element x was written as x - 1 + 1
        (x, (1, 0), "cpp", False),  # element x + 1 is written later
        (x, (1, 0), "triton", True),  # there is no later
        (x, (0, 16), "triton", False),  # apart
        (x, (0, 15), "triton", True),  # element 15 is read by 15 and written by 0
        (mod(x, 4), (0, 0), "triton", True),  # 4 reads element 0
        (as_expr(3), (0, 0), "metal", True),
    ],
)  # fmt: skip
def test_one_storage_twice(read: Expr, offsets: tuple[int, int], dialect: str, fault: bool) -> None:
    xs = [var("x", 16, "loop", 1)] if dialect == "cpp" else [var("x", 16)]
    found = hazard(in_place(read, x, xs, dialect, offsets))
    assert (found is not None) == fault
    if found is not None and found.meeting is not None:
        m = found.meeting
        assert evaluate(read, m.first) + offsets[0] == m.element == m.second["x"] + offsets[1]
        assert m.first["x"] != m.second["x"]


def test_interleaved_views_share_nothing() -> None:
    """Rows of 8 whose halves are read and written."""
    both = [var("x", 4), var("y", 4)]
    assert hazard(in_place(x + 8 * y, x + 8 * y, both, "triton", (0, 4))) is None
    assert hazard(in_place(x + 7 * y, x + 8 * y, both, "triton", (0, 4))) is not None  # 0 + 7 = 3 + 4


def test_threads_of_one_reduction_wait_for_each_other() -> None:
    both = [var("x", 4), var("r0_index", 8)]
    r0 = sym("r0_index")
    assert hazard(in_place(x * 8 + r0, x * 8 + 7 - r0, both, "metal")) is None
    assert hazard(in_place(x * 8 + r0, (3 - x) * 8 + r0, both, "metal")) is not None


def test_a_read_that_is_not_used_or_not_known() -> None:
    xs = [var("x", 16)]
    assert hazard(in_place(x, x, xs, "triton", (1, 0), used=compare("<", x, 0))) is None
    assert hazard(in_place(x, x, xs, "triton", (1, 0), guard=opaque("mask"))) is None


def test_two_writes_through_two_pointers() -> None:
    a, b = aliased(0, 8)
    xs = [var("x", 16)]
    stores = [access("store", "p", x, xs, "x"), access("store", "q", x, xs, "x")]
    found = hazard(launch(stores, {"p": a, "q": b}))
    assert found is not None and found.use.access.kind == "store" and found.meeting is not None
    loops = [var("x", 16, "loop", 1)]
    in_order = [access("store", "p", x, loops, "x"), access("store", "q", x, loops, "x")]
    assert hazard(launch(in_order, {"p": a, "q": b}, "cpp")) is None  # what is last stays, as written


def both_ways(dialect: str, param: Param, loads_first: bool) -> Hazard | None:
    """In place, with the same map, through ``param`` and a plain pointer."""
    a, b = aliased(0, 0)
    xs = [var("x", 16, "loop", 1)] if dialect == "cpp" else [var("x", 16)]
    accesses = [access("load", "in", x, xs), access("store", "out", x, xs, "x")]
    if not loads_first:
        accesses.reverse()
    return hazard(
        launch(accesses, {"in": a, "out": b}, dialect, params=[param, Param("out", True, "float32")])
    )


def test_promises() -> None:
    constant = Param("in", True, "float32", readonly=True)
    restrict = Param("in", True, "float32", restrict=True)
    assert both_ways("metal", constant, True) is None  # the form of every kernel that works in place
    found = both_ways("metal", constant, False)
    assert found is not None and found.kind == "promise" and found.meeting is None
    assert both_ways("cpp", constant, False) is None  # a const pointer promises nothing
    found = both_ways("cpp", restrict, True)
    assert found is not None and found.kind == "promise"


def test_agreement_for_every_size() -> None:
    ranges = Ranges({"s": (2, None)})
    outer = var("x", 4, "parallel", 1)
    main, tail = (outer, var("y", s - 1, "loop", 2)), (outer,)
    assert agree((s * x + y, main, TRUE), (s * x + s - 1, tail, TRUE), [outer], ranges)
    assert not agree((s * x + y, main, TRUE), (s * x + s, tail, TRUE), [outer], ranges)
    assert not agree((s * x + y, main, TRUE), (2 * s * x, tail, TRUE), [outer], ranges)


# -- AL104


def test_places_of_a_layout_that_are_one_element() -> None:
    def overlap(sizes: list[int], strides: list[int], offset: int = 0):  # type: ignore[no-untyped-def]
        return _overlap(tuple(map(const, sizes)), tuple(map(const, strides)), const(offset), Ranges())

    assert overlap([3, 5], [5, 1]) is None and overlap([3, 5], [1, 3]) is None
    assert overlap([1, 5], [0, 1]) is None  # one row: stride 0 says nothing
    assert overlap([0, 5], [0, 1]) is None
    expanded = overlap([3, 5], [0, 1], 7)
    assert expanded is not None and expanded.expanded
    assert (expanded.first, expanded.second, expanded.element) == ((0, 0), (1, 0), 7)
    window = overlap([4, 3], [2, 1])
    assert window is not None and not window.expanded
    assert (window.first, window.second, window.element) == ((0, 2), (1, 0), 2)


def test_stores_through_an_overlapping_view_count_in_any_loop() -> None:
    loops = [var("x", 4, "loop", 1), var("y", 3, "loop", 2)]
    group = launch(
        [access("load", "in", 3 * x + y, loops), access("store", "out", 2 * x + y, loops, "xy")],
        dialect="cpp",
    )
    found = rivals(group[1], group, Ranges(), everything=True)
    assert found is not None and found.certain and found.element == 2
    assert rivals(group[1], group, Ranges(), everything=False) is None
    once = launch([access("store", "out", x, loops[:1], "x")], dialect="cpp")
    assert rivals(once[0], once, Ranges(), everything=True) is None


# -- enumeration


def test_long_loops_are_looked_at_from_both_ends() -> None:
    n = 1 << 24
    p = points(mod(x, n - 1), [var("x", n)], TRUE, {})
    assert p is not None and len(p.element) <= POINTS
    assert [(p.point(i), p.point(j)) for i, j in clashes(p, ["x"], ["x"])] == [({"x": 0}, {"x": n - 1})]


def test_nothing_is_claimed_of_data() -> None:
    data = Var("t", None, "data", 0, 7)
    assert points(x + sym("t"), [var("x", 4), data], TRUE, {}) is None
    assert points(x, [var("x", 4), data], compare("<", sym("t"), 3), {}) is None
    assert points(x, [var("x", 4), data], TRUE, {}) is not None  # it is not in the index
    dependent = var("y", sym("x") + 1)
    assert points(x + y, [var("x", 4), dependent], TRUE, {}) is None


def test_empty_spaces() -> None:
    p = points(x, [var("x", 0)], TRUE, {})
    assert p is not None and not len(p.element)
    q = points(const(3), [], TRUE, {})
    assert q is not None and list(q.element) == [3]
    assert not clashes(p, ["x"], ["x"]) and not meetings(p, q, [], both=True)


def test_sizes_that_a_wrapper_refuses_prove_nothing() -> None:
    """``x % 4`` for x below s repeats from s = 5 on; only multiples of 8 from 8 on are admitted."""
    ranges = Ranges({"s": (2, None)}, [compare("==", mod(s, 8), 0), compare(">", s, 2)])
    xs = [var("x", s)]
    group = launch([access("load", "in", x, xs), access("store", "out", mod(x, 4), xs, "x")], ranges=ranges)
    found = race(group, ranges)
    assert found is not None and found.sizes["s"] % 8 == 0 and found.sizes["s"] > 2
    never = Ranges({"s": (2, 8)}, [compare("==", mod(s, 8), 7), compare("<", s, 4)])
    assert race(group, never) is None


# -- AL207 within a program, and through one pointer


def lanes(value: Expr, barrier: int = 0, mine: int = 256) -> list[Verdict]:
    """A store by lane ``i`` to element ``i`` and a later load at ``value`` of ``j``, of one program with 256 lanes."""
    xs, i, j = [var("pid0", 8)], var("i", mine, "lane"), var("j", 256, "lane")
    group = [
        access("store", "p", sym("i") + 256 * sym("pid0"), [*xs, i], ["i"]),
        access("load", "p", value + 256 * sym("pid0"), [*xs, j]),
        access("store", "q", sym("j") + 256 * sym("pid0"), [*xs, j], ["j"]),
    ]
    after = [replace(a, barriers=(0, barrier)) for a in group[1:]]
    return launch([group[0], *after])


def test_a_lane_reads_what_another_lane_of_its_program_has_stored() -> None:
    (found,) = _of_storage(on_one(lanes(255 - sym("j"))), Ranges())
    assert found.meeting is not None and found.meeting.doubt
    assert found.meeting.first["j"] + found.meeting.second["i"] == 255


def on_one(group: list[Verdict]) -> list[Verdict]:
    return [v for v in group if v.param.name == "p"]


def test_lanes_that_wait_or_read_back_their_own_element_are_fine() -> None:
    assert not list(_of_storage(on_one(lanes(255 - sym("j"), barrier=1)), Ranges()))
    assert not list(_of_storage(on_one(lanes(sym("j"))), Ranges()))
    # lane j reads what lane j - 1 has stored, in the same warp or at its edge: 31 and 32 are told apart
    (edge,) = _of_storage(on_one(lanes(maximum(sym("j") - 1, 0))), Ranges())
    assert edge.meeting is not None and edge.meeting.first["j"] % 32 == 0
    # blocks of two shapes have other lanes
    assert not list(_of_storage(on_one(lanes(255 - sym("j"), mine=128)), Ranges()))


def test_programs_that_waited_for_each_other_are_ordered() -> None:
    xs = [var("pid0", 8)]
    stores, loads = access("store", "p", sym("pid0"), xs, ["pid0"]), access("load", "p", 7 - sym("pid0"), xs)
    assert list(_of_storage(launch([stores, loads]), Ranges()))
    assert not list(_of_storage(launch([stores, replace(loads, barriers=(1, 1))]), Ranges()))


def test_kernels_with_atomics_have_ways_to_wait() -> None:
    xs = [var("pid0", 8)]
    stores, loads = access("store", "p", sym("pid0"), xs, ["pid0"]), access("load", "p", 7 - sym("pid0"), xs)
    ticket = access("atomic", "q", 0, xs)
    assert not list(_of_storage(on_one(launch([stores, ticket, loads])), Ranges()))


def test_a_parallel_loop_that_turns_its_memory_around() -> None:
    xs = [var("x", 8, "parallel", loop=1)]
    group = [
        access("load", "p", 7 - sym("x"), xs),
        access("store", "p", sym("x"), xs, ["x"]),
    ]
    (found,) = _of_storage(launch(group, dialect="cpp"), Ranges())
    assert found.meeting is not None and found.meeting.concurrent
    swapped = launch(group[::-1], dialect="cpp")  # a load after the store: what it means depends on the round
    assert not list(_of_storage(swapped, Ranges()))

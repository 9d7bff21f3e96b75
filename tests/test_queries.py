"""What rules ask the analyzer: bytes two tensors share, blobs, 32-bit index values."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.bounds import decide
from aoti_lint.analyzer.bounds.narrow import fits
from aoti_lint.analyzer.checks.constants import shortage
from aoti_lint.analyzer.checks.index_overflow import wraps
from aoti_lint.analyzer.memory.byte_span import apart, region, share
from aoti_lint.analyzer.memory.storage import Storage, Tensor
from aoti_lint.analyzer.memory.trace import LaunchFact, Verdict
from aoti_lint.analyzer.model.kernel import Access, Kernel, Narrow, Param, Var
from aoti_lint.analyzer.model.location import Loc
from aoti_lint.analyzer.model.program import Constant, Launch
from aoti_lint.analyzer.model.record import replace
from aoti_lint.analyzer.symbolic import TRUE, Cond, Expr, compare, const, sym
from aoti_lint.analyzer.symbolic.assumptions import Ranges

HERE = Loc("x", 1)
NONE = Ranges()


def tensor(storage: Storage, offset: int | str, sizes: list[int | str], strides: list[int | str]) -> Tensor:
    def exprs(values: list[int | str]) -> tuple[Expr, ...]:
        return tuple(const(v) if isinstance(v, int) else sym(v) for v in values)

    return Tensor("t", storage, exprs([offset])[0], "float32", exprs(sizes), exprs(strides), HERE)


def buffer() -> Storage:
    return Storage("buf0", "allocation", const(64), "float32", HERE)


@pytest.mark.parametrize(
    ("a", "b", "apart_", "shared"),
    [
        ((0, [8], [1]), (8, [8], [1]), True, False),
        ((0, [8], [1]), (7, [8], [1]), False, True),
        ((0, [16], [1]), (4, [2], [3]), False, True),
        # {4,2}/{4,1} at 0 and at 2 interleave: the hulls overlap, no element is in both
        ((0, [4, 2], [4, 1]), (2, [4, 2], [4, 1]), None, False),
        # an expanded tensor has as many elements as bytes in its hull only by chance
        ((0, [2, 2], [0, 2]), (1, [1], [1]), None, False),
        ((0, [0], [1]), (0, [8], [1]), True, False),
    ],
)
def test_bytes_two_tensors_share(a: tuple, b: tuple, apart_: bool | None, shared: bool) -> None:
    storage = buffer()
    x, y = region(tensor(storage, *a), NONE), region(tensor(storage, *b), NONE)
    assert x is not None and y is not None
    assert (apart(x, y, NONE), share(x, y, NONE)) == (apart_, shared)
    assert (apart(y, x, NONE), share(y, x, NONE)) == (apart_, shared)


def test_regions_of_dynamic_sizes() -> None:
    storage, ranges = buffer(), Ranges({"s0": (2, None)})
    first, second = (region(tensor(storage, at, ["s0"], [1]), ranges) for at in (0, "s0"))
    assert first is not None and second is not None
    assert apart(first, second, ranges) is True
    behind = region(tensor(storage, 2, ["s0"], [1]), ranges)
    assert behind is not None and apart(first, behind, ranges) is None  # apart at s0 = 2 only


def test_tensors_of_different_storages_are_apart() -> None:
    x, y = (region(tensor(buffer(), 0, [8], [1]), NONE) for _ in range(2))
    assert x is not None and y is not None and apart(x, y, NONE) is True


@pytest.mark.parametrize(
    ("sizes", "strides", "offset", "size", "expected"),
    [
        ((4, 6), (6, 1), 0, 96, None),
        ((4, 6), (6, 1), 1, 96, (1, 24, 24)),
        ((4, 6), (8, 1), 0, 96, (0, 29, 24)),
        ((4,), (-1,), 2, 64, (-1, 2, 16)),
        ((0, 6), (6, 1), 9, 0, None),
        ((), (), 0, 4, None),
        ((), (), 0, 0, (0, 0, 0)),
    ],
)
def test_constants_against_their_bytes(
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    size: int,
    expected: tuple[int, int, int] | None,
) -> None:
    found = shortage(Constant("w", 0, sizes, strides, "float32", offset, size, HERE))
    assert (None if found is None else (found.first, found.last, found.available)) == expected


def verdict(
    index: Expr, variables: tuple[Var, ...], guard: Cond, ranges: Ranges, **access: object
) -> Verdict:
    made = Access("p", "load", index, variables, guard, HERE, "i", **access)  # type: ignore[arg-type]
    param = Param("p", True, "uint8")
    launch = LaunchFact(0, Launch("k", (), (), HERE), Kernel("k", "metal", (param,), (made,), HERE), {}, {})
    big = const(2**40)
    t = tensor(Storage("b", "allocation", big, "uint8", HERE), 0, [2**40], [1])
    return Verdict(
        launch, made, param, t, index, variables, guard, const(0), big,
        decide(index, variables, guard, const(0), big, ranges),
    )  # fmt: skip


X, Y = sym("x"), sym("y")


def grid(x: int | Expr, y: int) -> tuple[Var, ...]:
    return Var("x", x if isinstance(x, Expr) else const(x), "grid"), Var("y", const(y), "grid")


def test_the_first_point_that_wraps() -> None:
    # 65536*x + y first reaches 2^31 at x = 32768, y = 0
    v = verdict(X * 65536 + Y, grid(40000, 65536), TRUE, NONE, index_bits=32)
    found = wraps(v, NONE)
    assert found is not None
    assert (found.value, found.limit, found.witness) == (2**31, 2**31, {"x": 32768, "y": 0})


def test_what_fits_does_not_wrap() -> None:
    fits = X * 65536 + Y
    assert wraps(verdict(fits, grid(32768, 65536), TRUE, NONE, index_bits=32), NONE) is None
    assert wraps(verdict(fits, grid(40000, 65536), TRUE, NONE), NONE) is None  # 64 bits
    assert (
        wraps(verdict(fits, grid(40000, 65536), TRUE, NONE, index_bits=32, index_signed=False), NONE) is None
    )
    guard = compare("<", X, 32768)
    assert wraps(verdict(fits, grid(40000, 65536), guard, NONE, index_bits=32), NONE) is None


def test_unsigned_values_end_at_two_to_the_32() -> None:
    v = verdict(X * 65536 + Y, grid(70000, 65536), TRUE, NONE, index_bits=32, index_signed=False)
    found = wraps(v, NONE)
    assert found is not None and found.witness == {"x": 65536, "y": 0} and found.value == 2**32


def test_a_variable_on_the_way_to_the_index_wraps() -> None:
    v = verdict(Y, grid(3, 2**31 + 1), TRUE, NONE, names=(("half", Y), ("z", X)), narrow=(("half", True),))
    found = wraps(v, NONE)
    assert found is not None and (found.text, found.witness) == ("half", {"x": 0, "y": 2**31})


def test_sizes_without_an_upper_bound_are_taken_to_fit() -> None:
    open_, closed = Ranges({"s0": (2, None)}), Ranges({"s0": (2, 2**17)})
    for ranges, wrapped in ((open_, False), (closed, True)):
        v = verdict(X * 65536 + Y, grid(sym("s0"), 65536), TRUE, ranges, index_bits=32)
        found = wraps(v, ranges)
        assert (found is not None) is wrapped
        if found is not None:
            assert found.witness["x"] == 32768 and found.witness["s0"] > 32768


def test_nothing_is_proved_of_a_value_that_may_wrap() -> None:
    # k*x with x below 40000: it fits for k = 50000, not for k = 60000; only there the path x < 30000 is needed
    product = Narrow("k * x", sym("k") * X, 32, True, vars=(Var("x", const(40000), "grid"),))
    below = replace(product, path=compare("<", X, 30000))
    for narrow, factor, fits_ in ((product, 50000, True), (product, 60000, False), (below, 60000, True)):
        assert fits(narrow, (), {"k": const(factor)}, NONE) is fits_
    assert fits(
        product, (), {}, Ranges({"k": (2, None)})
    )  # a size without an upper bound is taken to be small
    assert not fits(product, (), {"k": const(-60000)}, NONE)  # below the least value


def test_the_first_point_at_which_a_part_of_the_index_wraps() -> None:
    product = Narrow("65536 * r", sym("r") * 65536, 32, True, vars=(Var("r", const(40000), "grid"),))
    found = wraps(verdict(Y, grid(1, 5), TRUE, NONE, taken=(product,)), NONE)
    assert found is not None
    assert (found.text, found.value, found.witness["r"]) == ("65536 * r", 2**31, 32768)

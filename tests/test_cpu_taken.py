"""What an access of a C++ kernel takes for granted, for a launch to say: values that fit their type, and small floats."""

from __future__ import annotations

from aoti_lint.analyzer.symbolic import const
from cpu_cases import lower, only
from iterations import points


def test_a_product_in_32_bits_must_fit() -> None:
    """``ks0 * 3`` is computed in ``int``; the access that does not depend on it takes nothing."""
    k = lower("const float* in_ptr0, float* out_ptr0, const int32_t ks0", "out_ptr0[ks0 * 3] = in_ptr0[7];")
    (n,) = only(k, "out_ptr0", "store").taken
    assert (n.bits, n.signed, n.rounds) == (32, True, False) and n.value.substitute({"ks0": const(5)}) == 15
    assert only(k, "in_ptr0", "load").taken == ()


def test_a_product_meant_in_64_bits_is_one() -> None:
    """100000 squared is ten thousand million: it does not fit 32 bits, and need not."""
    k = lower("float* out_ptr0", "int32_t k = 100000; out_ptr0[static_cast<int64_t>(k) * k] = 1.0f;")
    assert points(only(k, "out_ptr0", "store")) == [10_000_000_000]
    assert only(k, "out_ptr0", "store").taken == ()


FLOATS = """
    for (int64_t x0 = 0; x0 < {size}; x0 += 1)
    {{
        auto tmp0 = static_cast<double>(ks0) / static_cast<double>(3L*ks0);
        auto tmp1 = c10::convert<float>(x0) * c10::convert<float>(tmp0);
        out_ptr0[x0] = in_ptr0[c10::convert<int64_t>(tmp1)];
    }}"""


def test_float_indices_of_any_size_must_be_small() -> None:
    """Four roundings of numbers below 2**16 move a value by less than 1/64; that they are below, a launch says."""
    k = lower("const float* in_ptr0, float* out_ptr0, const int64_t ks0", FLOATS.format(size="3L*ks0"))
    taken = [n for n in only(k, "in_ptr0", "load").taken if n.rounds]
    assert {tuple(sorted(n.value.symbols)) for n in taken} == {("x0",), ("ks0",)}
    assert {(n.low, n.high) for n in taken} == {(-(1 << 16), (1 << 16) - 1)}

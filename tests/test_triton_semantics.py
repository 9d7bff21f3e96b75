"""What each construct of a Triton kernel means: the indices an access reaches, against numpy in the same width.

``x`` are the 64 lanes of one program; each row computes an index from it as the kernel does and as numpy does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from .triton_cases import accesses, lower, points

X = np.arange(64, dtype=np.int32)


def trunc(a: np.ndarray, b: int) -> np.ndarray:
    return np.sign(a) * (np.abs(a) // b)


def reached(index: str) -> list[int]:
    k = lower(
        f"""
        x = tl.arange(0, 64)
        y = {index}
        tl.store(out_ptr0 + y, 1.0)
        """,
        "in_ptr0:f out_ptr0:f in_ptr1:u",
        ("1", "1", "1"),
    )
    (a,) = accesses(k, "out_ptr0")
    return points(k, a)


ROWS: dict[str, tuple[str, Callable[[], np.ndarray]]] = {
    "division truncates": ("(x - 32) // 5", lambda: trunc(X - 32, 5)),
    "remainder has the sign of the dividend": ("(x - 32) % 5", lambda: np.fmod(X - 32, 5)),
    "division by a negative": ("(x + 5) // (0 - 3)", lambda: -trunc(X + 5, 3)),
    "uint8 wraps": ("(x.to(tl.uint8) * 7).to(tl.int32)", lambda: X.astype(np.uint8) * np.uint8(7)),
    "a number takes the type of the block": ("(x.to(tl.uint8) + 200).to(tl.int32)", lambda: (X + 200) % 256),
    "uint8 below zero wraps": ("(x.to(tl.uint8) - 10).to(tl.int32)", lambda: X.astype(np.uint8) - np.uint8(10)),
    "unsigned comparison": (
        "tl.where(x.to(tl.uint8) - 10 >= 0, x, 1000)", lambda: X),
    "signed comparison": ("tl.where(x - 10 >= 0, x, 1000)", lambda: np.where(X >= 10, X, 1000)),
    "narrowing to int8": ("(x * 5).to(tl.int8).to(tl.int32)", lambda: (X * 5).astype(np.int8)),
    "int8 to uint8": ("(x - 32).to(tl.int8).to(tl.uint8).to(tl.int32)", lambda: (X - 32).astype(np.uint8)),
    "widening keeps the value": ("(x.to(tl.int64) * 100000000)", lambda: X.astype(np.int64) * 100000000),
    "uint32 below zero": ("(x.to(tl.uint32) - 1).to(tl.int64)", lambda: X.astype(np.uint32) - np.uint32(1)),
    "shift right of negatives": ("(x - 32) >> 2", lambda: (X - 32) >> 2),
    "shift left": ("x << 3", lambda: X << 3),
    "and with low bits": ("x & 15", lambda: X & 15),
    "and with high bits": ("x & -8", lambda: X & -8),
    "or with low bits": ("x | 7", lambda: X | 7),
    "xor with low bits": ("x ^ 7", lambda: X ^ 7),
    "not": ("~x", lambda: ~X),
    "minimum and maximum": ("tl.maximum(tl.minimum(x, 40), 8)", lambda: np.clip(X, 8, 40)),
    "a comparison as number": ("x + (x > 10).to(tl.int32)", lambda: X + (X > 10)),
    "cdiv": ("tl.cdiv(x, 6)", lambda: -(-X // 6)),
    "reshape": ("tl.reshape(x, (4, 16))", lambda: X.reshape(4, 16)),
    "reshape and transpose": ("tl.trans(tl.reshape(x, (8, 8))) + 64 * tl.reshape(x, (8, 8))",
                              lambda: X.reshape(8, 8).T + 64 * X.reshape(8, 8)),
    "permute": ("tl.permute(tl.reshape(x, (2, 4, 8)), (2, 0, 1)) + 64 * tl.reshape(x, (8, 2, 4))",
                lambda: X.reshape(2, 4, 8).transpose(2, 0, 1) + 64 * X.reshape(8, 2, 4)),
    "join": ("tl.join(x, x + 1000)", lambda: np.stack([X, X + 1000], -1)),
    "interleave": ("tl.interleave(x, 5 * x) + 1000 * tl.arange(0, 128)",
                   lambda: np.stack([X, 5 * X], -1).ravel() + 1000 * np.arange(128)),
    "cat": ("tl.cat(x, x + 100, can_reorder=True)", lambda: np.concatenate([X, X + 100])),
    "swizzle2d, first": ("tl.swizzle2d(x // 8, x % 8, 8, 8, 4)[0] + 8 * x", lambda: swizzle(0) + 8 * X),
    "swizzle2d, second": ("tl.swizzle2d(x // 8, x % 8, 8, 8, 4)[1] + 8 * x", lambda: swizzle(1) + 8 * X),
    "broadcast": ("x[:, None] * 64 + tl.arange(0, 4)[None, :]", lambda: X[:, None] * 64 + np.arange(4)),
    "flat view of two axes": ("tl.ravel(x[:, None] * 4 + tl.arange(0, 4)[None, :])", lambda: np.arange(256)),
}  # fmt: skip


def swizzle(which: int) -> np.ndarray:
    """Positions of an 8 by 8 grid in groups of 4 rows, column by column inside a group."""
    group, inside = X // 32, X % 32
    return (group * 4 + inside % 4, inside // 4)[which]


@pytest.mark.parametrize("row", ROWS)
def test_row(row: str) -> None:
    index, expected = ROWS[row]
    found = reached(index)
    wanted = sorted(int(v) for v in expected().ravel())
    assert (sorted(set(found)) if row == "cat" else found) == wanted  # the order of a cat is the compiler's


def test_split_takes_the_two_halves_apart() -> None:
    k = lower(
        """
        a, b = tl.split(tl.reshape(tl.arange(0, 64), (32, 2)))
        tl.store(out_ptr0 + a, 1.0)
        tl.store(in_ptr0 + b, 1.0)
        """,
        "in_ptr0:f out_ptr0:f",
        ("1", "1", "1"),
    )
    (even,), (odd,) = accesses(k, "out_ptr0"), accesses(k, "in_ptr0")
    assert points(k, even) == list(range(0, 64, 2)) and points(k, odd) == list(range(1, 64, 2))


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ("r * stride + c", "r * stride + c"),
        ("r * stride + c.to(tl.int64)", "r * stride"),
        ("(r * stride).to(tl.int64) + c", "r * stride"),
    ],
)
def test_a_product_of_32_bits_is_taken_to_fit_before_it_is_widened(index: str, text: str) -> None:
    k = lower(
        f"""
        r = tl.program_id(0)
        c = tl.arange(0, 64)
        tl.store(out_ptr0 + ({index}), 1.0)
        """,
        "out_ptr0:f stride:n",
        ("stride", "1", "1"),
    )
    (a,) = accesses(k, "out_ptr0")
    assert [(n.text.strip("()"), n.bits, n.signed) for n in a.taken] == [(text, 32, True)]


@pytest.mark.parametrize("index", ["r.to(tl.int64) * stride + c", "r * wide + c"])
def test_a_factor_of_64_bits_makes_the_product_wide(index: str) -> None:
    k = lower(
        f"""
        r = tl.program_id(0)
        c = tl.arange(0, 64)
        tl.store(out_ptr0 + ({index}), 1.0)
        """,
        "out_ptr0:f stride:n wide:N",
        ("stride", "1", "1"),
    )
    (a,) = accesses(k, "out_ptr0")
    assert a.taken == ()


def test_an_offset_added_to_a_pointer_is_narrow_by_itself() -> None:
    k = lower(
        """
        r = tl.program_id(0)
        p = out_ptr0 + r * stride
        p += r * 8
        tl.store(p + tl.arange(0, 8), 1.0)
        """,
        "out_ptr0:f stride:n",
        ("stride", "1", "1"),
    )
    (a,) = accesses(k, "out_ptr0")
    assert {n.text for n in a.taken} == {"r * stride", "r * 8"}

"""As much of Triton's language as generated kernels use, over numpy, one program at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from .numpy_machine import Arg, rows_of


class CheckFailed(Exception):
    """A device_assert that does not hold."""


class Unsupported(Exception):
    """A construct these stand-ins lack."""


class DType:
    """An element type: ``item`` bytes in memory, computed with as ``compute``."""

    def __init__(self, name: str, item: int, compute: Any) -> None:
        self.name, self.item, self.compute = name, item, np.dtype(compute)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unsupported(f"{name} of an element type")

    def __call__(self, x: Any) -> Block:
        return block(x).to(self)

    def load(self, rows: Any) -> Any:
        flat = np.ascontiguousarray(rows)
        if self.name == "bfloat16":
            return (flat.view(np.uint16).astype(np.uint32) << 16).view(np.float32).ravel()
        if self.name == "int1":
            return flat.ravel() != 0
        if self.name.startswith("float8"):
            return flat.ravel().astype(np.float32) / 256
        return flat.view(self.name).ravel().astype(self.compute)

    def store(self, values: Any) -> Any:
        with np.errstate(all="ignore"):
            if self.name == "bfloat16":
                return rows_of((values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), 2)
            if self.name.startswith("float8"):
                return rows_of((values.astype(np.float32) * 256).astype(np.uint8), 1)
            return rows_of(values.astype(np.uint8 if self.name == "int1" else self.name), self.item)


_TYPES = {
    t.name: t
    for t in [
        DType("int1", 1, bool), DType("int8", 1, "i1"), DType("uint8", 1, "u1"), DType("int16", 2, "i2"),
        DType("uint16", 2, "u2"), DType("int32", 4, "i4"), DType("uint32", 4, "u4"), DType("int64", 8, "i8"),
        DType("uint64", 8, "u8"), DType("float16", 2, "f4"), DType("bfloat16", 2, "f4"), DType("float32", 4, "f4"),
        DType("float64", 8, "f8"), DType("float8e4nv", 1, "f4"), DType("float8e5", 1, "f4"),
    ]
}  # fmt: skip
#: Spelling in a kernel's signature to element type.
SIGNATURE = {
    "i1": "int1", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32",
    "i64": "int64", "u64": "uint64", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
    "fp8e4nv": "float8e4nv", "fp8e5": "float8e5",
}  # fmt: skip


def element_type(signature: str) -> DType:
    return _TYPES[SIGNATURE[signature.lstrip("*")]]


class Block:
    """A tensor of one program: arithmetic with Triton's integer division (towards zero)."""

    __slots__ = ("a",)
    __array_ufunc__ = None

    def __init__(self, a: Any) -> None:
        self.a = np.asarray(a)

    shape = property(lambda self: list(self.a.shape))
    T = property(lambda self: Block(self.a.T))

    @property
    def dtype(self) -> DType:
        return _TYPES["int1" if self.a.dtype == bool else str(self.a.dtype)]

    def to(self, dtype: DType, bitcast: bool = False, **_: Any) -> Block:
        with np.errstate(all="ignore"):
            return Block(self.a.view(dtype.compute) if bitcast else self.a.astype(dtype.compute))

    def __getitem__(self, key: Any) -> Block:
        return Block(self.a[key])

    def __bool__(self) -> bool:
        return bool(self.a)

    def __index__(self) -> int:
        return int(self.a)

    def __int__(self) -> int:
        return int(self.a)

    def __neg__(self) -> Block:
        return Block(-self.a)

    def __invert__(self) -> Block:
        return Block(~self.a)

    def reshape(self, *shape: Any) -> Block:
        return Block(self.a.reshape(shape[0] if isinstance(shape[0], (list, tuple)) else shape))

    def broadcast_to(self, *shape: Any) -> Block:
        return Block(np.broadcast_to(self.a, shape[0] if isinstance(shape[0], (list, tuple)) else shape))

    def sum(self, axis: int | None = None) -> Block:
        return Block(self.a.sum(axis))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unsupported(f"method {name} of a tensor")


def _divided(a: Any, b: Any) -> Any:
    if np.issubdtype(np.result_type(a, b), np.floating):
        return a / b
    safe = np.where(b == 0, 1, b)
    q = np.abs(a) // np.abs(safe)
    return np.where((np.asarray(a) < 0) == (np.asarray(safe) < 0), q, -q).astype(np.result_type(a, b))


def _operators() -> None:
    table: dict[str, Callable[[Any, Any], Any]] = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "floordiv": _divided,
        "mod": lambda a, b: a - _divided(a, b) * b if not np.issubdtype(np.result_type(a, b), np.floating) else np.fmod(a, b),
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift,
        "rshift": np.right_shift, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
        "eq": np.equal, "ne": np.not_equal,
    }  # fmt: skip

    def method(fn: Callable[[Any, Any], Any], swap: bool) -> Callable[[Block, Any], Any]:
        def op(self: Block, other: Any) -> Any:
            if isinstance(other, Pointer):
                return NotImplemented
            with np.errstate(all="ignore"):
                b = other.a if isinstance(other, Block) else other
                return Block(fn(b, self.a) if swap else fn(self.a, b))

        return op

    for name, fn in table.items():
        setattr(Block, f"__{name}__", method(fn, False))
        if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
            setattr(Block, f"__r{name}__", method(fn, True))


class Pointer:
    """Checked pointers: one argument, a block of element offsets."""

    __slots__ = ("arg", "at", "dtype")

    def __init__(self, arg: Arg, dtype: DType, at: Any = 0) -> None:
        self.arg, self.dtype, self.at = arg, dtype, np.asarray(at, np.int64)

    def __add__(self, other: Any) -> Pointer:
        return Pointer(self.arg, self.dtype, self.at + np.asarray(value(other), np.int64))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Pointer:
        return Pointer(self.arg, self.dtype, self.at - np.asarray(value(other), np.int64))

    shape = property(lambda self: list(self.at.shape))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unsupported(f"{name} of a pointer")


_operators()


def value(x: Any) -> Any:
    return x.a if isinstance(x, Block) else x


def block(x: Any) -> Block:
    if isinstance(x, Block):
        return x
    a = np.asarray(x)
    return Block(
        a.astype(np.float32 if a.dtype == np.float64 else np.int32 if a.dtype == np.int64 else a.dtype)
    )


def load(p: Pointer, mask: Any = None, other: Any = None, **_: Any) -> Block:
    shape = np.broadcast_shapes(p.at.shape, np.shape(value(mask)) if mask is not None else ())
    at = np.broadcast_to(p.at, shape)
    on = np.broadcast_to(True if mask is None else np.asarray(value(mask), bool), shape)
    out = np.zeros(shape, p.dtype.compute)
    if other is not None:
        out[...] = value(other)
    out[on] = p.dtype.load(p.arg.read(at[on]))
    return Block(out)


def store(p: Pointer, v: Any, mask: Any = None, **_: Any) -> None:
    v = np.asarray(value(v))
    shape = np.broadcast_shapes(p.at.shape, np.shape(value(mask)) if mask is not None else (), v.shape)
    on = np.broadcast_to(True if mask is None else np.asarray(value(mask), bool), shape)
    p.arg.write(np.broadcast_to(p.at, shape)[on], p.dtype.store(np.broadcast_to(v, shape)[on]))


def atomic_add(p: Pointer, v: Any, mask: Any = None, **_: Any) -> Block:
    old = load(p, mask)
    store(p, block(old) + v, mask)
    return old


def device_assert(cond: Any, message: str = "", **_: Any) -> None:
    if not np.all(value(cond)):
        raise CheckFailed(message or "device_assert")


def _fold(args: tuple[Block, ...], axis: int, fn: Callable[..., Any], keep: bool) -> tuple[Block, ...]:
    """Reduce, or (``keep``) scan, tuples of blocks along an axis."""
    moved = [np.moveaxis(x.a, axis, 0) for x in args]
    state = tuple(Block(m[0]) for m in moved)
    steps = [state]
    for i in range(1, moved[0].shape[0]):
        new = fn(*state, *(Block(m[i]) for m in moved))
        state = new if isinstance(new, tuple) else (new,)
        steps.append(state)
    if not keep:
        return state
    return tuple(Block(np.moveaxis(np.stack([s[k].a for s in steps]), 0, axis)) for k in range(len(args)))


def reduce(x: Any, axis: int, combine_fn: Callable[..., Any], **_: Any) -> Any:
    single = isinstance(x, Block)
    out = _fold((x,) if single else tuple(x), axis, combine_fn, False)
    return out[0] if single else out


def associative_scan(x: Any, axis: int, combine_fn: Callable[..., Any], reverse: bool = False) -> Any:
    single = isinstance(x, Block)
    out = _fold((x,) if single else tuple(x), axis, combine_fn, True)
    return out[0] if single else out


def _ufunc(fn: Callable[..., Any]) -> Callable[..., Block]:
    def call(*args: Any, **_: Any) -> Block:
        with np.errstate(all="ignore"):
            out = np.asarray(fn(*(value(a) for a in args)))
            return Block(out.astype(np.float32) if out.dtype == np.float64 else out)

    return call


def _reduction(fn: Callable[..., Any]) -> Callable[..., Block]:
    return lambda x, axis=None, **_: Block(fn(block(x).a, axis))


def _welford(mean: Block, m2: Block, weight: Block, axis: int) -> tuple[Block, Block, Block]:
    n = weight.a.sum(axis)
    with np.errstate(all="ignore"):
        m = np.where(n == 0, 0, (mean.a * weight.a).sum(axis) / n)
        spread = (m2.a + weight.a * (mean.a - np.expand_dims(m, axis)) ** 2).sum(axis)
    return Block(m.astype(np.float32)), Block(spread.astype(np.float32)), Block(n)


def _welford_reduce(
    x: Block, mean: Block, m2: Block, weight: Block, first: Any
) -> tuple[Block, Block, Block]:
    n = weight + 1
    delta = x - mean
    new = mean + delta / n
    return new, m2 + delta * (x - new), n


def _with_index(pick: Callable[..., Any]) -> Callable[..., tuple[Block, Block]]:
    def call(v: Block, i: Block, axis: int) -> tuple[Block, Block]:
        at = np.expand_dims(pick(v.a, axis), axis)
        index = np.broadcast_to(i.a, v.a.shape)
        return Block(np.take_along_axis(v.a, at, axis).squeeze(axis)), Block(
            np.take_along_axis(index, at, axis).squeeze(axis)
        )

    return call


def _floor_div(a: Any, b: Any) -> Block:
    return Block(np.floor_divide(value(a), np.where(np.asarray(value(b)) == 0, 1, value(b))))


def _missing(name: str) -> Callable[..., Any]:
    def call(*_: Any, **__: Any) -> Any:
        raise Unsupported(name)

    return call


class Library(SimpleNamespace):
    """A module of functions; what it lacks fails when it is called, by its name."""

    def __getattr__(self, name: str) -> Any:
        return _missing(name)


_MATH = {
    n: _ufunc(getattr(np, n))
    for n in [
        "exp",
        "exp2",
        "log",
        "log2",
        "log10",
        "log1p",
        "expm1",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "arcsin",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "isnan",
        "isinf",
        "signbit",
        "abs",
    ]
}
_MATH |= {
    "rsqrt": _ufunc(lambda x: 1 / np.sqrt(x)), "sqrt_rn": _ufunc(np.sqrt), "nearbyint": _ufunc(np.rint),
    "erf": _ufunc(lambda x: np.tanh(1.1283791 * x)), "sigmoid": _ufunc(lambda x: 1 / (1 + np.exp(-x))),
    "pow": _ufunc(np.power), "fmod": _ufunc(np.fmod), "div_rn": _ufunc(np.true_divide), "atan2": _ufunc(np.arctan2),
}  # fmt: skip


def language(pid: Sequence[int], grid: Sequence[int]) -> dict[str, Any]:
    """The names a kernel refers to; ``pid`` is read when a program asks for it."""
    arith = {
        "maximum": _ufunc(np.maximum), "minimum": _ufunc(np.minimum), "sum": _reduction(np.sum), "max": _reduction(np.max),
        "min": _reduction(np.min), "prod": _reduction(np.prod),
    }  # fmt: skip
    tl = Library(
        **_TYPES, **_MATH, **arith, load=load, store=store, atomic_add=atomic_add, device_assert=device_assert,
        program_id=lambda axis: Block(np.int32(pid[axis])), num_programs=lambda axis: Block(np.int32(grid[axis])),
        arange=lambda a, b: Block(np.arange(a, b, dtype=np.int32)),
        full=lambda shape, v, dtype: Block(np.full([int(n) for n in shape], value(v), dtype.compute)),
        zeros=lambda shape, dtype: Block(np.zeros([int(n) for n in shape], dtype.compute)),
        where=lambda c, a, b: Block(np.where(value(c), value(block(a)), value(block(b)))),
        broadcast_to=lambda x, *shape: Block(np.broadcast_to(block(x).a, shape[0] if len(shape) == 1 else shape)),
        range=lambda *a, **_: range(*(int(x) for x in a)), static_range=lambda *a, **_: range(*(int(x) for x in a)),
        reduce=reduce, associative_scan=associative_scan, cdiv=lambda a, b: -(-a // b), constexpr=lambda x: x,
        debug_barrier=lambda: None, static_assert=lambda *_: None, multiple_of=lambda x, _: x,
        max_contiguous=lambda x, _: x, assume=lambda *_: None,
        dot=lambda a, b, acc=None, **_: Block(a.a @ b.a + (0 if acc is None else acc.a)),
        trans=lambda x: Block(x.a.T), math=Library(**_MATH), reshape=lambda x, *s: x.reshape(*s),
    )  # fmt: skip
    helpers = Library(
        **arith, welford=_welford, welford_reduce=_welford_reduce, max2=_reduction(np.max), min2=_reduction(np.min),
        any=_reduction(np.any), max_with_index=_with_index(np.argmax), min_with_index=_with_index(np.argmin),
        promote_to_tensor=block, div_floor_integer=_floor_div, math=Library(**_MATH),
        remainder_integer=lambda a, b: block(a) - _floor_div(a, b) * b, constexpr_next_power_of_2=lambda n: 1 << (n - 1).bit_length(),
        maximum_with_index=lambda a, i, b, j: (Block(np.maximum(a.a, b.a)), Block(np.where(a.a >= b.a, i.a, j.a))),
        minimum_with_index=lambda a, i, b, j: (Block(np.minimum(a.a, b.a)), Block(np.where(a.a <= b.a, i.a, j.a))),
    )  # fmt: skip
    return {
        "tl": tl, "triton_helpers": helpers, "libdevice": Library(**_MATH), "tl_math": Library(**_MATH),
        "triton": Library(cdiv=lambda a, b: -(-a // b), jit=lambda f: f), "math": Library(pi=np.pi),
    }  # fmt: skip

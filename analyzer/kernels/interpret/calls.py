"""Pure functions by name: those that matter to an index. Any other says only what its result depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...model.record import replace
from .. import ir
from ..reals import magnitude
from . import integers
from .integers import int_type
from .values import Value, integer, merged

if TYPE_CHECKING:
    from .expressions import Evaluator

_Function = Callable[["Evaluator", ir.Call, list[Value]], Value]
#: Functions whose result is a truth value.
TRUTHS = frozenset(("isnan", "isinf", "isfinite", "isnormal", "signbit", "replace", "any", "all"))


def call(x: Evaluator, e: ir.Call, args: list[Value]) -> Value:
    """The value of a call; types of results as :attr:`~..ir.Program.result_type` has them unless stated."""
    function = _FUNCTIONS.get((e.name, len(args)))
    out = function(x, e, args) if function is not None else None
    if out is None:
        return merged(e.dtype if e.dtype is not None else result(x, e.name, args), *args)
    return out if e.dtype is None else x.convert(out, e.dtype)


def result(x: Evaluator, name: str, args: list[Value]) -> str:
    if name in TRUTHS:
        return "bool"
    types = [a.dtype for a in args if a.dtype]
    out = types[0] if types else "float32"
    for t in types[1:]:
        out = x.p.result_type(out, t)
    return out


def _extreme(x: Evaluator, e: ir.Call, args: list[Value]) -> Value:
    return _extreme_of(x, e.name, args[0], args[1], e.dtype)


def _extreme_of(x: Evaluator, name: str, a: Value, b: Value, stated: str | None) -> Value:
    dtype = stated or (a.dtype if a.dtype == b.dtype else x.p.result_type(a.dtype, b.dtype))
    t = int_type(dtype)
    if t is None:
        a, b = x.real(a), x.real(b)
        out = merged(dtype, a, b)
        if a.real is None or b.real is None:
            return out
        return replace(out, real=x.reals.extreme(name, a.real, b.real))
    ia, ib = integer(a), integer(b)
    if ia is None or ib is None:
        return merged(dtype, a, b)
    return replace(merged(dtype, a, b), int=integers.extreme(name, ia, ib, t, x.r.known()))


def _clamp(x: Evaluator, e: ir.Call, args: list[Value]) -> Value:
    low = _extreme_of(x, "max", args[0], args[1], e.dtype)
    return _extreme_of(x, "min", low, args[2], e.dtype)


def _select(x: Evaluator, e: ir.Call, args: list[Value]) -> Value:
    """``select(a, b, c)`` is ``c ? b : a``, with both evaluated."""
    cond, c = x.truth(args[2], e)
    a, b = args[1], args[0]
    dtype = a.dtype if a.dtype == b.dtype else x.p.result_type(a.dtype, b.dtype)
    return x.choose(cond, c, a, b, dtype)


def _down(x: Evaluator, e: ir.Call, args: list[Value]) -> Value | None:
    """The generator's helpers that round down."""
    a, b = args
    t = int_type(x.p.result_type(a.dtype, b.dtype))
    if t is None:
        return None
    return x.binary("//" if e.name == "floor_divide" else "mod", a, b, e)


def _abs(x: Evaluator, e: ir.Call, args: list[Value]) -> Value:
    (v,) = args
    i = integer(v)
    if i is not None:
        return replace(merged(v.dtype, v), int=integers.absolute(i, x.r.known()))
    return replace(merged(v.dtype, v), real=None if v.real is None else magnitude(v.real))


def _rounded(x: Evaluator, e: ir.Call, args: list[Value]) -> Value:
    (v,) = args
    if v.real is None:
        return merged(v.dtype, v)
    return replace(merged(v.dtype, v), real=x.reals.of_integer(x.reals.whole(v.real, e.name)))


def _bits(x: Evaluator, e: ir.Call, args: list[Value]) -> Value | None:
    """The same bits seen as another type: a conversion between integers of one width, else any value."""
    a, b = int_type(args[0].dtype), int_type(e.dtype or "")
    return x.convert(args[0], e.dtype or "") if a is not None and b is not None and a.bits == b.bits else None


_FUNCTIONS: dict[tuple[str, int], Callable[[Evaluator, ir.Call, list[Value]], Value | None]] = {
    ("min", 2): _extreme, ("max", 2): _extreme, ("clamp", 3): _clamp, ("select", 3): _select,
    ("floor_divide", 2): _down, ("remainder", 2): _down, ("safe_mod", 2): _down,
    ("abs", 1): _abs, ("floor", 1): _rounded, ("ceil", 1): _rounded, ("trunc", 1): _rounded,
    ("as_type", 1): _bits,
}  # fmt: skip

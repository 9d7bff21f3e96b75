"""Values of expressions and conditions at a point, or at every point of numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .terms import Cond, Expr, Op, trunc_div


def evaluate(e: Expr, env: Mapping[str, Any]) -> Any:
    """The value at a point. ``env`` maps every symbol to an int or a broadcastable numpy array.

    Raises KeyError for an unbound symbol and ZeroDivisionError for a division by zero.
    """
    out: Any = 0
    for mono, c in e.terms.items():
        term: Any = c
        for atom in mono:
            term = term * (env[atom] if isinstance(atom, str) else _eval_op(atom, env))
        out = out + term
    return out


def _eval_op(op: Op, env: Mapping[str, Any]) -> Any:
    if op.kind == "where":
        assert op.cond is not None
        c = evaluate_cond(op.cond, env)
        if isinstance(c, bool):
            return evaluate(op.args[0 if c else 1], env)
        import numpy as np

        return np.where(c, evaluate(op.args[0], env), evaluate(op.args[1], env))
    vals = [evaluate(a, env) for a in op.args]
    scalar = all(isinstance(v, int) for v in vals)
    if op.kind in ("min", "max"):
        if scalar:
            return min(vals) if op.kind == "min" else max(vals)
        import numpy as np

        fn = np.minimum if op.kind == "min" else np.maximum
        acc = vals[0]
        for v in vals[1:]:
            acc = fn(acc, v)
        return acc
    a, b = vals
    if (b == 0) if isinstance(b, int) else (b == 0).any():
        raise ZeroDivisionError(repr(op))
    if op.kind == "floordiv":
        return a // b
    if op.kind == "mod":
        return a % b
    if scalar:
        q = trunc_div(a, b)
        return q if op.kind == "tdiv" else a - q * b
    import numpy as np

    q = np.abs(a) // np.abs(b)
    q = np.where((np.asarray(a) < 0) == (np.asarray(b) < 0), q, -q)
    return q if op.kind == "tdiv" else a - q * b


def evaluate_cond(c: Cond, env: Mapping[str, Any]) -> Any:
    """Truth at a point (bool, or a numpy bool array). Raises ValueError on an opaque condition."""
    if c.kind == "const":
        return c.truth
    if c.kind in ("ge", "eq", "ne"):
        assert c.expr is not None
        v = evaluate(c.expr, env)
        r = v >= 0 if c.kind == "ge" else (v == 0 if c.kind == "eq" else v != 0)
        return bool(r) if isinstance(v, int) else r
    if c.kind == "opaque":
        raise ValueError(f"condition depends on data: {c.name}")
    acc: Any = None
    for a in c.args:
        v = evaluate_cond(a, env)
        if acc is None:
            acc = v
        elif isinstance(acc, bool) and isinstance(v, bool):
            acc = (acc and v) if c.kind == "and" else (acc or v)
        else:
            acc = (acc & v) if c.kind == "and" else (acc | v)
    return acc

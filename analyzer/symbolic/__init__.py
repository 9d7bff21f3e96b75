"""Integer index expressions: polynomials over symbols and a few integer operations.

An :class:`Expr` is kept in normal form (a sum of monomials with integer coefficients), so two
expressions that are equal as polynomials are equal as Python objects.  What is not a polynomial
(division, remainder, minimum, maximum, selection) is an :class:`Op` atom inside a monomial.

Conditions are :class:`Cond` trees over ``expr >= 0``, ``expr == 0`` and ``expr != 0``.
"""

from .evaluation import evaluate, evaluate_cond
from .terms import (
    FALSE,
    ONE,
    OPS,
    TRUE,
    ZERO,
    Atom,
    Cond,
    Expr,
    Mono,
    Op,
    as_expr,
    ceildiv,
    compare,
    const,
    exact_div,
    floordiv,
    make,
    maximum,
    minimum,
    mod,
    opaque,
    product,
    render,
    render_atom,
    render_cond,
    sym,
    tdiv,
    tmod,
    total,
    where,
)  # fmt: skip

__all__ = [
    "FALSE", "ONE", "OPS", "TRUE", "ZERO", "Atom", "Cond", "Expr", "Mono", "Op", "as_expr", "ceildiv", "compare",
    "const", "evaluate", "evaluate_cond", "exact_div", "floordiv", "make", "maximum", "minimum", "mod", "opaque",
    "product", "render", "render_atom", "render_cond", "sym", "tdiv", "tmod", "total", "where",
]  # fmt: skip

"""Shapes of loops: what counts, how often, and what a statement changes."""

from __future__ import annotations

from ...cxx.nodes import Node
from ...model.record import record
from ...symbolic import Expr, Op, floordiv, maximum, minimum
from ...symbolic.assumptions import Interval
from ..interpret.integers import INT64, IntType


@record(frozen=True)
class Plan:
    """A counting loop: ``for (name = start; name < stop; name += step)``."""

    name: str
    start: Expr
    stop: Expr
    step: Expr
    type: IntType = INT64


def trip_count(span: Expr, step: Expr) -> Expr:
    """Iterations of a loop over ``span`` in steps; 0 or less means none."""
    if len(step.terms) == 1:
        ((mono, c),) = step.terms.items()
        op = mono[0] if len(mono) == 1 else None
        # step c == 0 ? 1 : c over the same c: once, or never when it is empty
        if c == 1 and isinstance(op, Op) and op.kind == "where" and op.args[1] == span and op.args[0] == 1:
            return minimum(1, maximum(0, span))
    turns = floordiv(span + step - 1, step)
    return turns if turns.value is None and _not_negative(span) else maximum(0, turns)


def _not_negative(e: Expr) -> bool:
    """A sum of products of sizes, or what rounding down to a multiple leaves."""
    if all(c >= 0 for c in e.terms.values()) and not any(
        isinstance(a, Op) and a.kind != "floordiv" for a in e.atoms()
    ):
        return True
    for a in e.atoms():
        if isinstance(a, Op) and a.kind == "floordiv":
            rest = e - (a.args[0] - a.args[1] * Expr({(a,): 1}))
            if rest == 0:
                return True
    return False


def positive_symbol(extent: Expr) -> dict[str, Interval]:
    """Inside a loop over ``k*s + c`` iterations the size ``s`` is large enough for one."""
    if len(extent.symbols) != 1 or any(len(m) > 1 for m in extent.terms):
        return {}
    (name,) = extent.symbols
    k = extent.terms.get((name,), 0)
    return {name: (-((extent.constant - 1) // k), None)} if k > 0 else {}


def loop_parts(node: Node) -> tuple[Node | None, Node | None, Node | None]:
    """(initialisation, test, step) of ``for``; None for the parts that are missing or of another form."""
    init = test = step = None
    for k in node.kids[:-1]:
        if k.kind in ("decl", "decls") or (k.kind == "assign" and k.value == "=" and test is None):
            init = k
        elif k.kind == "bin" and k.value in ("<", "<=") and k.kids[0].kind == "name":
            test = k
        elif (k.kind == "un" and k.value in ("++", "post++")) or (k.kind == "assign" and k.value == "+="):
            step = k
    if test is None or step is None or step.kids[0].value != test.kids[0].value:
        return init, None, None
    return init, test, step


def inner_loop(node: Node) -> Node | None:
    body = node.kids[-1]
    while body.kind == "block" and len(body.kids) == 1:
        body = body.kids[0]
    return body if body.kind == "for" else None


def leaves(node: Node) -> bool:
    """Whether a loop body holds a ``break`` or ``return`` of its own."""
    if node.kind in ("break", "return"):
        return True
    if node.kind in ("for", "while", "lambda", "switch"):
        return False
    return any(leaves(k) for k in node.kids)


def declared(node: Node) -> set[str]:
    """Names declared directly in a block or in the head of a loop."""
    decls = [k for k in node.kids if k.kind == "decl"]
    decls += [d for k in node.kids if k.kind == "decls" for d in k.kids]
    return {d.value for d in decls}


def target(node: Node) -> str:
    """The name a node assigns, or ``*`` and the name it stores through; empty if it does neither."""
    t: Node | None = None
    through = ""
    if node.kind == "assign" or (node.kind == "un" and node.value in ("++", "--", "post++", "post--")):
        t = node.kids[0]
    elif node.kind == "method" and node.value == "store" and len(node.kids) > 1:
        t = node.kids[1]
    elif node.kind == "call" and node.value == "transpose_mxn" and len(node.kids) > 2:
        t = node.kids[2]
    while t is not None and t.kind in ("index", "member", "method", "bin", "cast", "un") and t.kids:
        through = through if t.kind == "member" else "*"
        t = t.kids[0]
    if node.kind in ("method", "call"):
        through = "*"
    return through + t.value if t is not None and t.kind == "name" else ""

"""Expressions and conditions as text, for messages and for a stable order."""

from __future__ import annotations

from .conditions import Cond
from .terms import Atom, Expr, atom_key

_NAMES = {"floordiv": "//", "mod": "%", "tdiv": "/", "tmod": "%"}


def render_atom(a: Atom) -> str:
    if isinstance(a, str):
        return a
    if a.kind == "where":
        return f"({render_cond(a.cond) if a.cond else '?'} ? {a.args[0]} : {a.args[1]})"
    if a.kind in ("min", "max"):
        return f"{a.kind}({', '.join(render(x) for x in a.args)})"
    parts = [r if len(x.terms) <= 1 and " " not in (r := render(x)) else f"({render(x)})" for x in a.args]
    return f"({parts[0]} {_NAMES[a.kind]} {parts[1]})"


def render(e: Expr) -> str:
    """Readable text, constant last: ``64*s27 - 1``."""
    if not e.terms:
        return "0"
    out: list[str] = []
    for m, c in sorted(e.terms.items(), key=lambda t: (not t[0], [atom_key(a) for a in t[0]])):
        body = "*".join(render_atom(a) for a in m)
        mag = abs(c)
        text = str(mag) if not m else body if mag == 1 else f"{mag}*{body}"
        if out:
            out.append(f" {'-' if c < 0 else '+'} {text}")
        else:
            out.append(f"-{text}" if c < 0 else text)
    return "".join(out)


def render_cond(c: Cond) -> str:
    if c.kind == "const":
        return "true" if c.truth else "false"
    if c.kind == "opaque":
        return ("!" if c.negated else "") + c.name
    if c.expr is not None:
        return f"{c.expr} {'>=' if c.kind == 'ge' else '==' if c.kind == 'eq' else '!='} 0"
    return "(" + (" && " if c.kind == "and" else " || ").join(render_cond(a) for a in c.args) + ")"


def plain(e: Expr | None) -> int | str | None:
    """An integer where it is one, else the expression's text."""
    if e is None:
        return None
    v = e.value
    return v if v is not None else str(e)

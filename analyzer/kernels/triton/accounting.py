"""Nothing lost: what the text mentions of memory and no access covers becomes an unknown access.

Three ways lead there: a statement that is not understood, a mention of a pointer that was never read, and an
access through something that is not followed as a pointer, which may touch whatever it was computed from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Literal

from ...model.kernel import Access, Param
from ...model.location import Loc
from ...model.record import record
from ...symbolic import TRUE
from .values import BlockPtr, Descriptor, Ptr, Static, Value

_LOADS = ("load", "load_tensor_descriptor")
_STORES = ("store", "atomic_")


@record(frozen=True)
class Lost:
    """A part of the text that may touch memory and was not followed: which parameters, and why."""

    node: ast.AST
    params: frozenset[str]
    reason: str


def pointers_in(v: Value) -> Iterator[str]:
    """The parameters a value leads to."""
    if isinstance(v, Ptr):
        yield v.param
    elif isinstance(v, BlockPtr):
        yield v.ptr.param
    elif isinstance(v, Descriptor):
        yield v.param
    elif isinstance(v, Static) and isinstance(v.obj, tuple):
        for x in v.obj:
            yield from pointers_in(x)


def touches(node: ast.AST) -> bool:
    """Whether a part of the text calls something that loads or stores by its name."""
    return any(isinstance(n, ast.Call) and _called(n).startswith((*_LOADS, *_STORES)) for n in ast.walk(node))


def _called(n: ast.Call) -> str:
    return (
        n.func.attr
        if isinstance(n.func, ast.Attribute)
        else n.func.id
        if isinstance(n.func, ast.Name)
        else ""
    )


def _only_loads(node: ast.AST) -> bool:
    """Whether nothing in a part of the text can write: it loads, and hands no pointer to anything else."""
    calls = [_called(n) for n in ast.walk(node) if isinstance(n, ast.Call)]
    return any(c.startswith(_LOADS) for c in calls) and not any(c.startswith(_STORES) for c in calls)


def unread(fn: ast.FunctionDef, names: Iterable[str], seen: set[int]) -> Iterator[ast.Name]:
    """Mentions of pointers in a function that were never evaluated, nor stand where nothing runs."""
    wanted = set(names)
    for stmt in fn.body:
        for n in ast.walk(stmt):
            if (
                isinstance(n, ast.Name)
                and isinstance(n.ctx, ast.Load)
                and n.id in wanted
                and id(n) not in seen
            ):
                yield n


def unknown_accesses(lost: Lost, params: Iterable[Param], loc: Loc) -> Iterator[Access]:
    """One unknown access for each parameter a lost part of the text may touch."""
    kind: Literal["load", "store"] = "load" if _only_loads(lost.node) else "store"
    text = ast.unparse(lost.node)[:80]
    for p in params:
        if p.pointer and (p.name in lost.params or not lost.params):
            yield Access(p.name, kind, None, (), TRUE, loc, text, lost.reason)

"""Spin locks: ``while tl.atomic_cas(p, 0, 1) == 1: pass`` … ``tl.atomic_xchg(p, 0)``.

What stands between the two, in the same block of the text, is done by one program at a time for each element of the lock.
The release counts only after a barrier: before it, other threads of the program may still be at their stores.
"""

from __future__ import annotations

import ast

from ...model.record import replace
from .state import Acquired, State
from .values import Ptr, Value


def acquire(state: State, loop: ast.While) -> None:
    """Remember the lock that a loop has waited for, if it is one that waits for a lock."""
    if state.dry or not _waits(loop) or not state.accesses:
        return
    swap = state.accesses[-1]
    if swap.kind == "atomic" and not swap.shape:
        state.acquired = Acquired(swap.ptr, tuple(state.path), tuple(state.loops), len(state.accesses))


def _waits(loop: ast.While) -> bool:
    """``while tl.atomic_cas(p, 0, 1) == 1`` (or ``!= 0``) with nothing in it: past it, this program has set the lock."""
    test = loop.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or loop.orelse:
        return False
    if not all(isinstance(s, ast.Pass) for s in loop.body) or not isinstance(test.left, ast.Call):
        return False
    busy = isinstance(test.ops[0], ast.Eq) and _is(test.comparators[0], 1)
    taken = isinstance(test.ops[0], ast.NotEq) and _is(test.comparators[0], 0)
    args = test.left.args
    swaps = _op(test.left) == "atomic_cas" and len(args) == 3 and not test.left.keywords
    return (busy or taken) and swaps and _is(args[1], 0) and _is(args[2], 1)


def release(state: State, node: ast.Call, where: Value) -> None:
    """Mark what stands between a lock's acquisition and this release; any other atomic that may be at the lock ends it unmarked."""
    held = state.acquired
    if state.dry or held is None or not isinstance(where, Ptr) or where.param != held.ptr.param:
        return
    beside = (where.offset - held.ptr.offset).value
    if beside:
        return
    state.acquired = None
    frees = _op(node) == "atomic_xchg" and len(node.args) == 2 and not node.keywords and _is(node.args[1], 0)
    if beside is None or not frees or held.path != tuple(state.path) or held.loops != tuple(state.loops):
        return
    if any(a.kind == "store" and a.ptr.param == where.param for a in state.accesses[held.accesses :]):
        return
    for i in range(held.accesses, len(state.accesses)):
        raw = state.accesses[i]
        if raw.barriers != state.barriers:
            state.accesses[i] = replace(raw, lock=held.ptr)


def _op(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is(node: ast.expr, n: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == n

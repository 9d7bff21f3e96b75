"""Launches of hand-made kernels for the tests on accesses that meet."""

from __future__ import annotations

from collections.abc import Iterable

from aoti_lint.analyzer.bounds import Decision, index_range
from aoti_lint.analyzer.memory.storage import Storage, Tensor
from aoti_lint.analyzer.memory.trace import LaunchFact, Verdict
from aoti_lint.analyzer.model.kernel import Access, Kernel, Param, Var, VarKind
from aoti_lint.analyzer.model.location import Loc
from aoti_lint.analyzer.model.program import Launch
from aoti_lint.analyzer.symbolic import TRUE, Cond, Expr, as_expr
from aoti_lint.analyzer.symbolic.assumptions import Ranges

HERE = Loc("f", 1)


def var(name: str, extent: Expr | int, kind: VarKind = "grid", loop: int = 0) -> Var:
    return Var(name, as_expr(extent), kind, loop=loop)


def access(
    kind: str, param: str, index: Expr | int, variables: Iterable[Var], values: Iterable[str] | None = (),
    guard: Cond = TRUE, used: Cond = TRUE,
) -> Access:  # fmt: skip
    depends = None if values is None else frozenset(values)
    return Access(
        param, kind, as_expr(index), tuple(variables), guard, HERE, str(index), value_vars=depends, used=used  # type: ignore[arg-type]
    )  # fmt: skip


def launch(
    accesses: Iterable[Access], tensors: dict[str, Tensor] | None = None, dialect: str = "triton",
    ranges: Ranges | None = None, params: Iterable[Param] = (),
) -> list[Verdict]:  # fmt: skip
    """The accesses of one launch; every parameter has a storage of its own unless ``tensors`` says which."""
    accesses = tuple(accesses)
    named = {p.name: p for p in params}
    names = dict.fromkeys(a.param for a in accesses)
    known = {n: named.get(n) or Param(n, True, "float32") for n in names}
    kernel = Kernel("k", dialect, tuple(known.values()), accesses, HERE)  # type: ignore[arg-type]
    args = {n: (tensors or {}).get(n) or tensor(n) for n in names}
    fact = LaunchFact(0, Launch("k", (), (), HERE), kernel, args, {})
    out = []
    for a in accesses:
        assert a.index is not None
        decision = Decision("proved", index_range(a.index, a.vars, a.guard, ranges or Ranges()))
        t = args[a.param]
        out.append(
            Verdict(
                fact, a, known[a.param], t, a.index, a.vars, a.guard, t.offset, as_expr(1 << 40), decision
            )
        )
    return out


def tensor(name: str, offset: int = 0, storage: Storage | None = None) -> Tensor:
    storage = storage or Storage(name, "allocation", as_expr(1 << 40), "float32", HERE)
    return Tensor(name, storage, as_expr(offset), "float32", None, None, HERE)


def aliased(*offsets: int) -> tuple[Tensor, ...]:
    """Tensors at these offsets of one storage."""
    storage = Storage("buf0", "allocation", as_expr(1 << 40), "float32", HERE)
    return tuple(tensor(f"buf{i}", o, storage) for i, o in enumerate(offsets))

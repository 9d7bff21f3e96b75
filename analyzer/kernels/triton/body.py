"""Statements of a Triton kernel body: assignments, branches, loops, and calls of functions beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from ...model.dtypes import ITEMSIZE
from ...symbolic import FALSE, TRUE, ZERO, Cond, Expr, ceildiv, const, maximum, sym
from ..interpret.integers import INT32, int_type
from . import floats, locks
from .accounting import pointers_in, touches, unread
from .arith import as_bool, as_num, select, unknown
from .expressions import Evaluator
from .loops import at_least, carry, changed, rounds_while, settle, solve, upper_bound
from .meta import KernelText
from .state import State, VarInfo
from .typed import join, settled
from .values import (
    NONE,
    Bool,
    Descriptor,
    Num,
    Ptr,
    Real,
    Static,
    Unsupported,
    Value,
    number,
)

_MAX_INLINE = 16


class Reader(Evaluator):
    """Reads statements in order; ``flow`` results are True where control leaves the block."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.returns: list[tuple[Cond, Value]] = []
        self.base = 0  # path conditions of the callers

    def block(self, body: list[ast.stmt]) -> bool:
        """Read statements; True when the end of the block is never reached."""
        for i, stmt in enumerate(body):
            if isinstance(stmt, ast.If):
                left = self._if(stmt, body[i + 1 :])
                if left is not None:
                    return left
                continue
            if self._statement(stmt):
                self.state.skip(*body[i + 1 :])
                return True
        return False

    def _statement(self, stmt: ast.stmt) -> bool:
        try:
            return self._one(stmt)
        except Unsupported as e:
            self._give_up(stmt, e)
            for name in assigned([stmt]):
                self.env[name] = Real()
            return False

    def _one(self, stmt: ast.stmt) -> bool:
        if isinstance(stmt, ast.Assign):
            self._assign(stmt.targets, stmt.value)
        elif isinstance(stmt, ast.AnnAssign):
            if stmt.value is not None:
                self._assign([stmt.target], stmt.value)
        elif isinstance(stmt, ast.AugAssign):
            sum_ = ast.copy_location(ast.BinOp(_loaded(stmt.target), stmt.op, stmt.value), stmt)
            # one node per statement, so that what it computes keeps its identity when it is read again
            self._assign([stmt.target], self.state.synthetic.setdefault(id(stmt), sum_))
        elif isinstance(stmt, ast.Expr):
            if not isinstance(stmt.value, ast.Constant):
                self.label = "value"
                self.expr(stmt.value)
        elif isinstance(stmt, (ast.For, ast.While)):
            self._loop(stmt)
            if isinstance(stmt, ast.While):
                locks.acquire(self.state, stmt)
        elif isinstance(stmt, ast.Return):
            value = NONE if stmt.value is None else self.expr(stmt.value)
            self.returns.append((Cond.join("and", self.state.path[self.base :]), value))
            return True
        elif isinstance(stmt, (ast.Break, ast.Continue)):
            return True
        elif isinstance(stmt, ast.With):
            for item in stmt.items:
                self.expr(item.context_expr)
            return self.block(stmt.body)
        elif isinstance(stmt, ast.Assert):
            self.expr(stmt.test)
            self.state.skip(stmt)
        elif not isinstance(stmt, (ast.Pass, ast.Import, ast.ImportFrom)):
            raise Unsupported(f"statement {type(stmt).__name__}")
        return False

    # -- assignment
    def _assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        self.label = next((t.id for t in targets if isinstance(t, ast.Name)), "value")
        v = self.expr(value)
        for t in targets:
            self._bind(t, v)

    def _bind(self, target: ast.expr, v: Value) -> None:
        if isinstance(target, ast.Name):
            self.env[target.id] = v
            leads = frozenset(pointers_in(v))
            if leads and not self.state.calls:
                self.state.pointers[target.id] = self.state.pointers.get(target.id, frozenset()) | leads
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = v.obj if isinstance(v, Static) and isinstance(v.obj, tuple) else None
            if items is not None and len(items) != len(target.elts):
                raise Unsupported("a tuple of another length")
            for i, t in enumerate(target.elts):
                self._bind(t, items[i] if items is not None else unknown(v))
        else:
            raise Unsupported(f"assignment to {ast.unparse(target)}")

    # -- branches
    def _if(self, stmt: ast.If, rest: list[ast.stmt]) -> bool | None:
        """None: go on with the next statement; else what :meth:`block` gives, ``rest`` included."""
        try:
            c = as_bool(self.state, self.expr(stmt.test), stmt.test)
        except Unsupported as e:
            self._give_up(stmt.test, e)
            c = as_bool(self.state, Real(), stmt.test)
        cond = self.state.decide(c.cond, ())
        if cond.kind == "const":
            self.state.skip(*(stmt.orelse if cond.truth else stmt.body))
            if self.block(stmt.body if cond.truth else stmt.orelse):
                self.state.skip(*rest)
                return True
            return None
        self.state.use([c])
        taken = len(self.state.path_narrow)
        self.state.path_narrow.extend(c.narrow)
        before = dict(self.env)
        with self.state.under(cond):
            left_a = self.block(stmt.body)
        env_a, self.env = self.env, dict(before)
        with self.state.under(~cond):
            left_b = self.block(stmt.orelse)
        if left_a and left_b:
            del self.state.path_narrow[taken:]
            self.state.skip(*rest)
            return True
        if left_a or left_b:
            self.env = self.env if left_a else env_a
            with self.state.under(~cond if left_a else cond):
                left = self.block(rest)
            del self.state.path_narrow[taken:]
            return left
        del self.state.path_narrow[taken:]
        self.env = self._merge(c, env_a, self.env, stmt)
        return None

    def _merge(self, c: Bool, a: dict[str, Value], b: dict[str, Value], node: ast.stmt) -> dict[str, Value]:
        out: dict[str, Value] = {}
        for name in {**a, **b}:
            x, y = a.get(name), b.get(name)
            if x is None or y is None or x is y:
                out[name] = x if x is not None else y if y is not None else NONE
                continue
            try:
                out[name] = select(self.state, c, x, y, node)
            except Unsupported:
                self.state.use([x, y])
                out[name] = Real()
        return out

    # -- loops
    def _loop(self, stmt: ast.For | ast.While) -> None:
        names = assigned(stmt.body)
        target: str | None = None
        value: Value = NONE
        if isinstance(stmt, ast.For):
            symbol, target, value = self._for_variable(stmt)
        else:
            symbol = self.state.fresh(stmt, "round", VarInfo("data", None, "round", 0, None))
        (name,) = symbol.symbols
        outer = dict(self.env)
        before = {n: outer[n] for n in names if n in outer and n != target}
        self.state.loops.append(name)
        after = self._rehearse(stmt, before, target, value)
        fixed = set(outer_symbols(self.state, outer))
        steps = {n: solve(n, v, after[n], fixed) for n, v in before.items()}
        self.env = outer | {
            n: changed(self.state, stmt, n, v, after[n], steps[n], symbol) for n, v in before.items()
        }
        said = len(self.state.facts)
        self._round(stmt, target, value)
        last = self.env
        self.state.loops.pop()
        del self.state.facts[said:]  # no round may run
        info = self.state.vars[name]
        rounds = info.extent if info.guard == TRUE and info.kind == "loop" else None
        self.env = outer | {
            n: settle(self.state, stmt, n, before.get(n), steps.get(n), last.get(n, NONE), symbol, rounds)
            for n in names | ({target} if target else set())
        }

    def _rehearse(
        self, stmt: ast.For | ast.While, before: dict[str, Value], target: str | None, value: Value
    ) -> dict[str, Value]:
        """Read a loop body without recording anything: the variables at its end, from symbols at its start."""
        facts, returns = list(self.state.facts), len(self.returns)
        self.env = self.env | {n: carry(n, v) for n, v in before.items()}
        self.state.dry += 1
        try:
            self._round(stmt, target, value)
        finally:
            self.state.dry -= 1
        self.state.facts[:] = facts
        del self.returns[returns:]
        return {n: self.env.get(n, NONE) for n in before}

    def _for_variable(self, stmt: ast.For) -> tuple[Expr, str, Value]:
        """(iteration symbol, source variable, its value) of ``for v in range(a, b, c)``."""
        call = stmt.iter
        if not isinstance(call, ast.Call) or not isinstance(stmt.target, ast.Name) or not call.args:
            raise Unsupported(f"loop over {ast.unparse(stmt.iter)[:80]}")
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
        if name not in ("range", "static_range"):
            raise Unsupported(f"loop over {ast.unparse(stmt.iter)[:80]}")
        bounds = [settled(self.state, as_num(self.state, self.expr(a), a), a) for a in call.args[:3]]
        self.state.use(bounds)
        first = bounds[0] if len(bounds) > 1 else number(0)
        stop, step = bounds[min(1, len(bounds) - 1)], bounds[2] if len(bounds) > 2 else number(1)
        down = (step.expr.value or 1) < 0
        span = (first.expr - stop.expr) if down else (stop.expr - first.expr)
        size = -step.expr if down else step.expr
        plain = first.expr == ZERO and step.expr == const(1)
        label = stmt.target.id if plain else f"{stmt.target.id}_round"
        symbol = self._rounds(stmt, label, span, size)
        deps = unknown(*bounds).deps | symbol.symbols
        bits = max(b.bits for b in bounds)
        value = Num(
            expr=first.expr + step.expr * symbol, deps=deps, bits=bits, fits=True, narrow=join(*bounds)
        )
        return symbol, stmt.target.id, value

    def _rounds(self, stmt: ast.For, label: str, span: Expr, step: Expr) -> Expr:
        """The symbol of the rounds of a loop: as many as ``step`` fits into ``span``, from 0."""
        ranges = self.state.ranges()
        if not any(s in self.state.vars for s in span.symbols | step.symbols):
            count = ceildiv(span, step)
            count = count if ranges.nonneg(span) is True else maximum(count, 0)
            return self.state.fresh(stmt, label, VarInfo("loop", count, label))
        # the number of rounds varies: bound it, and say where a round runs
        symbol = self.state.fresh(stmt, label, VarInfo("data", None, label, 0, None))
        guard = at_least(span - step * symbol - 1)
        most = upper_bound(span, self.state.vars.keys(), ranges)
        if most is None or step.symbols & self.state.vars.keys():
            return self.state.fresh(stmt, label, VarInfo("data", None, label, 0, None, guard=guard))
        count = maximum(ceildiv(most, step), 0)
        return self.state.fresh(stmt, label, VarInfo("loop", count, label, guard=guard))

    def _round(self, stmt: ast.For | ast.While, target: str | None, value: Value) -> None:
        if target is not None:
            self.env[target] = value
        if isinstance(stmt, ast.For):
            self.block(stmt.body)
            return
        c = as_bool(self.state, self.expr(stmt.test), stmt.test)
        self.state.use([c])
        count = rounds_while(c.cond, self.state.loops[-1], self.state.vars)
        if count is not None:
            self.state.fresh(stmt, "round", VarInfo("loop", count, "round"))
        taken = len(self.state.path_narrow)
        self.state.path_narrow.extend(c.narrow)
        with self.state.under(c.cond):
            self.block(stmt.body)
        del self.state.path_narrow[taken:]

    # -- functions
    def inline(self, fn: ast.FunctionDef, node: ast.Call) -> Value:
        """Read the body of a function of the same source with its parameters bound."""
        args = [*fn.args.posonlyargs, *fn.args.args]
        bound = self._bind_arguments(fn, node)
        if len(self.state.calls) >= _MAX_INLINE or any(a.arg not in bound for a in args):
            if any(True for v in bound.values() for _ in pointers_in(v)):
                raise Unsupported(f"call of {fn.name}")
            return unknown(*bound.values())
        with self._frame(node, bound):
            self.block(fn.body)
            returns = self.returns
        if not returns:
            return NONE
        cond, value = returns[-1]
        for cond, earlier in reversed(returns[:-1]):
            value = self._either(cond, earlier, value, node)
        return value

    def _either(self, cond: Cond, a: Value, b: Value, node: ast.Call) -> Value:
        if isinstance(a, Static) and isinstance(b, Static):
            if isinstance(a.obj, tuple) and isinstance(b.obj, tuple) and len(a.obj) == len(b.obj):
                pairs = zip(a.obj, b.obj, strict=True)
                return Static(obj=tuple(self._either(cond, x, y, node) for x, y in pairs))
            return a if a.obj == b.obj else Real()
        return select(self.state, Bool(cond=cond), a, b, node)

    def _bind_arguments(self, fn: ast.FunctionDef, node: ast.Call) -> dict[str, Value]:
        args = [*fn.args.posonlyargs, *fn.args.args]
        defaults = dict(zip([a.arg for a in args][::-1], fn.args.defaults[::-1], strict=False))
        bound = {n: self.expr(e) for n, e in defaults.items()}
        bound |= {a.arg: self.expr(e) for a, e in zip(args, node.args, strict=False)}
        return bound | {k.arg: self.expr(k.value) for k in node.keywords if k.arg is not None}

    @contextmanager
    def _frame(self, node: ast.Call, bound: dict[str, Value]) -> Iterator[None]:
        saved = self.env, self.returns, self.base, self.state.calls, self.label
        self.env, self.returns, self.base = bound, [], len(self.state.path)
        self.state.calls = (*self.state.calls, id(node))
        try:
            yield
        finally:
            self.env, self.returns, self.base, self.state.calls, self.label = saved

    def _give_up(self, node: ast.AST, why: Unsupported) -> None:
        """A node that was not understood: what it may touch is unknown, and it may use whatever it names."""
        named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        values = [v for k, v in self.env.items() if k in named]
        self.state.use(values)
        params = {p for v in values for p in pointers_in(v)}
        if params or touches(node):
            self.state.lose(node, params or self._sources(values), str(why))

    def _sources(self, values: list[Value]) -> set[str]:
        """The parameters that values were loaded from."""
        loads = {k for v in values for k in v.feeds}
        return {a.ptr.param for a in self.state.accesses if a.load_id in loads}


def outer_symbols(state: State, env: dict[str, Value]) -> Iterator[str]:
    """Symbols that keep their value through a loop about to be read: those in scope before it."""
    yield from (p.name for p in state.kernel.params)
    yield from state.loops[:-1]
    yield from (s for e in state.programs.values() for s in e.symbols)
    yield from (f"grid.{k}" for k in range(3))
    yield from (f"@{k}" for k in range(8))
    for v in env.values():
        if isinstance(v, Num):
            yield from v.expr.symbols
        elif isinstance(v, Ptr):
            yield from v.offset.symbols | v.base.symbols


def assigned(body: list[ast.stmt]) -> set[str]:
    """Names a block assigns."""
    return {
        n.id
        for stmt in body
        for n in ast.walk(stmt)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _loaded(target: ast.expr) -> ast.expr:
    if not isinstance(target, ast.Name):
        raise Unsupported(f"assignment to {ast.unparse(target)}")
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def read_body(kernel: KernelText) -> State:
    """Read a kernel from its first statement to its last."""
    state = State(kernel, kernel.grid)
    reader = Reader(state)
    for p in kernel.params:
        reader.env[p.name] = _parameter(p.name, p.pointer, p.dtype)
    for name, v in kernel.constants.items():
        reader.env[name] = _compile_time(v)
    for name in kernel.unknown:
        reader.env[name] = Num(expr=sym(name), fits=True, weak=True)
    state.pointers.update((p.name, frozenset({p.name})) for p in kernel.params if p.pointer)
    reader.block(kernel.fn.body)
    for n in unread(kernel.fn, state.pointers, state.seen):
        state.lose(n, state.pointers[n.id], f"{n.id} is mentioned where nothing was read")
    return state


def _parameter(name: str, pointer: bool, dtype: str | None) -> Value:
    if pointer:
        return Ptr(param=name, size=ITEMSIZE[dtype]) if dtype else Descriptor(param=name)
    if dtype is None or dtype.startswith(("int", "uint")):
        t = int_type(dtype or "int32") or INT32
        return Num(expr=sym(name), bits=t.bits, signed=t.signed, fits=True)
    return Bool(cond=Cond.of("ne", sym(name))) if dtype == "bool" else Real(dtype=dtype)


def _compile_time(v: object) -> Value:
    if isinstance(v, bool):
        return Bool(cond=TRUE if v else FALSE)
    if isinstance(v, int):
        return number(v)
    if isinstance(v, float):
        return Real(fn=floats.constant(v))
    if isinstance(v, tuple):
        return Static(obj=tuple(_compile_time(x) for x in v))
    return Static(obj=str(v)) if v is not None else NONE

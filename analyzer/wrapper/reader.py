"""A wrapper and its kernels to a :class:`~..model.program.Program`."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..cxx.clang_unit import Unit, prelude_words
from ..model.kernel import Kernel
from ..model.location import Loc
from ..model.program import Assert, Function, Input, Program, Symbol, Unmodelled, nested
from ..symbolic import Cond, Expr, compare, const, sym
from .apart import apart
from .context import Context
from .errors import NotAWrapper
from .inputs import Dim, InputChecks, read_checks
from .prepare import Prepared, Truncated, prepare
from .statements import body as statements

if TYPE_CHECKING:
    from ..kernels.triton.reader import TritonLauncher

_PRELUDE = "prelude_std.hpp+prelude_host.hpp"
_BODIES = ("run_impl", "_const_run_impl", "inductor_entry_impl", "run_impl_minimal_arrayref_interface")


#: After ``extern "C"``: the definition of a C++ kernel in the wrapper's own text.
_KERNEL = re.compile(r"\s+(?:[\w()]+\s+)*?void\s+(?:\w+\s+)*?cpp_fused\w*\s*\([^;{)]*\)\s*\{")


#: Characters a statement may have: libclang recurses over its terms and would run out of stack.
MAX_STATEMENT = 60_000
#: Dimensions an input may have; a check of a later one states nothing.
_MAX_RANK = 64


def unreadable(text: str) -> bool:
    """Whether a statement is so long that a parser would run out of stack."""
    if len(text) <= MAX_STATEMENT:
        return False
    ends = [m.start() for m in re.finditer(r"[;{}]", text)]
    pieces = itertools.pairwise([-1, *ends, len(text)])
    return any(
        b - a > MAX_STATEMENT and len("".join(text[a + 1 : b].split())) > MAX_STATEMENT for a, b in pieces
    )


def read_program(
    text: str,
    path: str,
    kernel_texts: Sequence[tuple[str, str]] = (),
    first_line: int = 1,
    processes: int = 1,
) -> Program:
    """Parse a wrapper; ``kernel_texts`` are (path, text) of kernel files. Raises NotAWrapper.

    ``processes``: how many may share the reading of large kernel files.
    """
    if not re.search(r"\b(?:run_impl|inductor_entry_impl)\s*\(", text):
        raise NotAWrapper("not an AOTInductor wrapper: no run_impl or inductor_entry_impl in it")
    try:
        prepared = prepare(text, path, prelude_words(_PRELUDE), first_line)
    except Truncated:
        raise NotAWrapper("truncated: the text ends inside a function") from None
    if unreadable(prepared.source.text):
        raise NotAWrapper(f"a statement of more than {MAX_STATEMENT} characters: no generator writes that")
    kernels, launchers = _kernels(text, path, prepared, kernel_texts, processes)
    # A sum is as deep as it has terms; the readers walk it by recursion.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 12_000))
    unit = Unit(prepared.source, _PRELUDE, prepared.extra)
    functions = unit.functions()
    bodies = [(n, c) for n, c in functions if n in _BODIES]
    if not any(n != "_const_run_impl" for n, _ in bodies):
        raise NotAWrapper("truncated: the body of run_impl is incomplete")
    checks = read_checks(unit, functions)
    diagnostics = [*unit.diagnostics(), *prepared.undecided]
    out: list[Function] = []
    symbols: dict[str, Symbol] = {}
    facts: list[Cond] = []
    for name, cursor in bodies:
        ctx = Context(unit, text, kernels, launchers, diagnostics, prepared.macros)
        body = unit.body(cursor)
        if body is None or (name == "run_impl" and _forwards(unit, body)):
            continue
        statements(ctx, body.kids, body.start, body.end)
        loc = unit.source.loc(*unit.extent(cursor))
        inputs = _inputs(ctx, checks, prepared, symbols, facts)
        out.append(Function(name, inputs, tuple(ctx.constants), tuple(ctx.events), loc))
    outside = _outside(unit, bodies, diagnostics, text)
    kernels = {n: apart(k, symbols) for n, k in kernels.items()}
    return Program(
        path, prepared.device, "cpp_wrapper" if prepared.dialect == "cpp_wrapper" else "aoti", prepared.torch,
        prepared.constants, tuple(out), kernels, tuple(symbols.values()), tuple(facts), outside,
    )  # fmt: skip


def _forwards(unit: Unit, body: Any) -> bool:
    """``run_impl`` of the minimal array interface only converts its arguments and forwards them."""
    return any("convert_handles_to_inputs" in unit.slice(k) for k in body.kids)


def _outside(
    unit: Unit, bodies: list[tuple[str, Any]], diagnostics: list[tuple[int, str]], text: str
) -> tuple[Unmodelled, ...]:
    """Parse errors outside the bodies: reported, never swallowed."""
    spans = [unit.extent(c) for _, c in bodies]
    out = []
    for offset, message in diagnostics:
        if any(a <= offset < b for a, b in spans):  # its statement says so
            continue
        line = text[text.rfind("\n", 0, offset) + 1 : offset + 80].split("\n")[0].strip()
        out.append(Unmodelled(line, unit.source.loc(offset), (), f"not valid C++: {message}"))
    return tuple(out)


def _kernels(
    text: str, path: str, prepared: Prepared, kernel_texts: Sequence[tuple[str, str]], processes: int
) -> tuple[dict[str, Kernel], dict[str, TritonLauncher]]:
    """Kernels by the name launches use, from every dialect the text holds."""
    kernels: dict[str, Kernel] = {}
    launchers: dict[str, TritonLauncher] = {}
    if "kernel void" in text:
        from ..kernels.metal.reader import find_kernels

        kernels.update(find_kernels(text, path))
    if "triton" in text:
        from ..kernels.triton.reader import find_launchers

        launchers = find_launchers(text, path)
        kernels.update({x.kernel.name: x.kernel for x in launchers.values()})
    cpp = [(p, t) for p, t in kernel_texts if 'extern "C"' in t and not unreadable(t)]
    if any(_KERNEL.match(text, m.end()) for m in re.finditer('extern "C"', text)):
        cpp.append((path, text))
    if cpp:
        from ..kernels.cpp.shares import parse_shares

        width = _vector_bytes(text + "".join(t[-4000:] for _, t in cpp))
        for p, t in cpp:
            kernels.update(parse_shares(t, p, width, processes))
    return kernels, launchers


def _vector_bytes(text: str) -> int | None:
    """Vector width in force, from the compile command in the trailer; None when it is not stated."""
    m = re.search(r"CPU_CAPABILITY_(AVX512|AVX2|NEON|SVE256|ZVECTOR|VSX)", text)
    return (
        {"AVX512": 64, "AVX2": 32, "NEON": 16, "SVE256": 32, "ZVECTOR": 32, "VSX": 32}[m.group(1)]
        if m
        else None
    )


# -- inputs -------------------------------------------------------------------------------------


def _inputs(
    ctx: Context,
    checks: dict[str, InputChecks],
    prepared: Prepared,
    symbols: dict[str, Symbol],
    facts: list[Cond],
) -> tuple[Input, ...]:
    asserted: dict[str, Assert] = {}
    for e in nested(ctx.events):
        if isinstance(e, Assert):
            asserted.setdefault(e.name, e)
    out = []
    for index, (name, loc) in sorted(ctx.inputs.items()):
        check = checks.get(name, InputChecks())
        said = asserted.get(name)
        if (
            name not in checks and said is None
        ):  # dimensions that happen to be read state no rank and no strides
            out.append(Input(name, index, None, None, None, loc, False, read=_read_dims(ctx, name)))
            continue
        sizes = _layout(ctx, name, False, check.sizes, said.sizes if said else None, facts)
        strides = _layout(ctx, name, True, check.strides, said.strides if said else None, facts)
        if sizes is not None and strides is not None and len(sizes) != len(strides):
            sizes = strides = None  # checks that contradict each other state nothing
        checked = strides is not None
        if strides is None and sizes is not None:
            strides = _contiguous(sizes)
        unread = tuple(d for d, e in enumerate(sizes or ()) if e == sym(f"{name}_size_{d}") and not said)
        out.append(
            Input(
                name,
                index,
                sizes,
                strides,
                check.dtype,
                check.loc or loc,
                checked,
                unread,
                name in ctx.aligned,
            )
        )
    for label, s in ctx.symbols.items():
        symbols.setdefault(label, _range(s, facts))
    return tuple(out)


def _read_dims(ctx: Context, name: str) -> tuple[int, ...]:
    """Dimensions of an input whose sizes the body reads."""
    return tuple(sorted(d for of, strides, d in ctx.dims if of == name and not strides))


def _layout(
    ctx: Context,
    name: str,
    strides: bool,
    checks: dict[int, Dim],
    stated: tuple[Expr, ...] | None,
    facts: list[Cond],
) -> tuple[Expr, ...] | None:
    """Sizes (or strides) of an input: stated ones first, then checked numbers, then symbols read from it."""
    bound = {k[2]: e for k, e in ctx.dims.items() if k[0] == name and k[1] == strides}
    rank = len(stated) if stated is not None else max([*checks, *bound], default=-1) + 1
    if (stated is None and not checks and not bound) or rank > _MAX_RANK:
        return None
    out: list[Expr] = []
    for d in range(rank):
        check = checks.get(d, Dim())
        if stated is not None:
            e = stated[d]
        elif check.value is not None:
            e = const(check.value)
        elif d in bound:
            e = bound[d]
        elif strides:
            return None
        else:
            e = ctx.dim(name, strides, d, check.loc or Loc(ctx.unit.source.path, 1))
        if e.value is None and not strides:
            facts.append(compare(">=", e, check.lo if check.lo is not None else (2 if not checks else 0)))
            if check.hi is not None:
                facts.append(compare("<=", e, check.hi))
        if d in bound and bound[d] != e:
            facts.append(compare("==", bound[d], e))
        out.append(e)
    return tuple(out)


def _contiguous(sizes: tuple[Expr, ...]) -> tuple[Expr, ...]:
    out: list[Expr] = []
    step = const(1)
    for s in reversed(sizes):
        out.append(step)
        step = step * s
    return tuple(reversed(out))


def _range(symbol: Symbol, facts: list[Cond]) -> Symbol:
    """Range of one symbol from the facts that bound it alone (``a*s + c >= 0``)."""
    lo, hi = symbol.lo, symbol.hi
    s = sym(symbol.name)
    for f in facts:
        if f.kind != "ge" or f.expr is None or f.expr.symbols != {symbol.name}:
            continue
        a = f.expr.terms.get((symbol.name,), 0)
        c = f.expr.constant
        if a == 0 or f.expr != s * a + c:
            continue
        if a > 0:
            lo = max(lo, -(c // a))
        else:
            top = c // -a
            hi = top if hi is None else min(hi, top)
    return Symbol(symbol.name, lo, hi, symbol.loc, symbol.backed)

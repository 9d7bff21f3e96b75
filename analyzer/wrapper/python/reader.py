"""A Python wrapper to a :class:`~...model.program.Program`. The text is parsed with :mod:`ast` and never executed."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping

from ...model.kernel import Kernel
from ...model.location import Loc
from ...model.program import Alloc, Event, Function, Input, Launch, Program, Symbol, nested
from ...symbolic import Cond, Expr, compare
from ..apart import apart
from ..errors import NotAWrapper
from .context import Arguments, Context, Frame
from .kernels import Definition, definitions
from .module import Module, parse
from .statements import Reader

#: Functions that are none of a graph.
_OTHER = ("get_args", "benchmark_compiled_module", "recursively_apply_fns", "__init__")


def read_python(text: str, path: str, processes: int = 1) -> Program:
    """The program of a Python wrapper. Raises NotAWrapper with one line."""
    m = parse(text, path)
    # Trees of terms are walked by recursion.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 12_000))
    entries = [
        f
        for name, f in m.names.items()
        if isinstance(f, ast.FunctionDef) and name.rpartition(".")[2] == "call"
    ]
    if not entries:
        raise NotAWrapper("not an Inductor wrapper: it has no function call(args)")
    kernels = definitions(m, processes)
    flat = {n: d.kernel for n, d in kernels.items()}
    out: list[Function] = []
    found = Found(m)
    called: set[str] = set()
    for fn in entries[-1:]:
        called |= _function(m, fn, kernels, flat, out, found)
    for (
        name,
        node,
    ) in m.names.items():  # nothing is lost: a graph that is called from nowhere here is one of its own
        if isinstance(node, ast.FunctionDef) and name not in called and _is_graph(name, node, kernels):
            called |= _function(m, node, kernels, flat, out, found)
    device = _device(m, out, kernels)
    return Program(
        path, device, "python", m.torch, (), tuple(out), {n: apart(k, found.symbols) for n, k in flat.items()},
        tuple(found.symbols.values()), tuple(found.facts), (), tuple(found.example.items()),
    )  # fmt: skip


class Found:
    """What all graphs of a module say of sizes."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.symbols: dict[str, Symbol] = {}
        self.facts: list[Cond] = []
        self.example: dict[str, int] = {}


def _is_graph(name: str, fn: ast.FunctionDef, kernels: Mapping[str, Definition]) -> bool:
    if (
        name.rpartition(".")[2] in (*_OTHER, "call")
        or "." in name
        or len(fn.args.args) != 1
        or name in kernels
    ):
        return False
    return any(
        isinstance(n, ast.Name) and (n.id in kernels or n.id == "extern_kernels") for n in ast.walk(fn)
    )


def _function(
    m: Module,
    fn: ast.FunctionDef,
    kernels: Mapping[str, Definition],
    flat: Mapping[str, Kernel],
    out: list[Function],
    found: Found,
) -> set[str]:
    """Read one graph body; returns the functions it runs."""
    c = Context(m, flat)
    c.called.add(fn.name)
    arguments = [a.arg for a in fn.args.args if a.arg != "self"]
    c.frame = Frame({a: Arguments() for a in arguments[:1]})
    Reader(c, kernels).body(fn.body)
    inputs = tuple(_inputs(c, found))
    loc = c.loc(fn)
    out.append(Function(fn.name, inputs, (), tuple(c.events), Loc(m.path, loc.line, loc.column, loc.line)))
    return c.called


def _inputs(c: Context, found: Found) -> Iterator[Input]:
    sized: set[str] = set()
    equal: list[Cond] = []
    for (name, strides, d), e in c.dims.items():
        said = c.asserted.get(name)
        stated = (said.strides if strides else said.sizes) if said is not None else ()
        if d < len(stated) and stated[d] != e:
            equal.append(compare("==", e, stated[d]))
    facts: list[Cond] = []
    for said in c.asserted.values():
        for e in said.sizes:
            if e.value is None:
                facts.append(compare(">=", e, 0))
                sized |= _alone(e)
    sized |= {n for (_, strides, _), e in c.dims.items() if not strides for n in _alone(e)}
    found.facts += [*equal, *facts]
    for name, s in c.symbols.items():
        # A size that Dynamo made a symbol of is not 0 or 1: it would have compiled for those numbers.
        lo = max(s.lo, 2) if name in sized and s.backed and name[0] == "s" else s.lo
        found.symbols.setdefault(name, Symbol(s.name, lo, s.hi, s.loc, s.backed))
    found.example |= c.example
    examples = c.module.examples
    for name, (position, loc) in sorted(c.inputs.items(), key=lambda i: i[1][0]):
        known = examples[position] if position < len(examples) else None
        if known is not None and known.dtype is None and (known.number or known.integer is not None):
            continue  # a number that nothing uses as a size
        said = c.asserted.get(name)
        yield Input(
            name, position, said.sizes if said else None, said.strides if said else None,
            known.dtype if known else None, said.loc if said else loc,
        )  # fmt: skip


def _alone(e: Expr) -> set[str]:
    """The symbol that an expression is, if it is one."""
    (name, *more) = [*e.symbols, ""]
    return {name} if more == [""] and e.terms == {(name,): 1} else set()


def _device(m: Module, functions: list[Function], kernels: Mapping[str, Definition]) -> str:
    """The device of the graph: that of its kernels, of what it allocates, of its inputs."""
    events: list[Event] = [e for f in functions for e in nested(f.events)]
    used = {e.kernel for e in events if isinstance(e, Launch)}
    dialects = {d.dialect for n, d in kernels.items() if n in used}
    if "metal" in dialects:
        return "mps"
    seen = [e.device for e in events if isinstance(e, Alloc)] + [
        x.device for x in m.examples if x and x.device
    ]
    others = [d for d in seen if d != "cpu"]
    if others:
        return others[0]
    return "cuda" if "triton" in dialects and not seen else "cpu"

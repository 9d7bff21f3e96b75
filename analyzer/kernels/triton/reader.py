"""Triton kernels of a wrapper: launcher functions and the kernels they launch, in the program model.

The Python source of a kernel is read with :mod:`ast` and never executed.
"""

from __future__ import annotations

from ...model.kernel import Access, Kernel
from ...model.location import Loc
from ...model.record import record, replace
from ...symbolic import Expr, const
from .access import build, location
from .accounting import unknown_accesses
from .arguments import Arguments, read_arguments, shifted
from .body import read_body
from .choices import with_alternatives
from .meta import KernelText, read_kernel
from .source import LauncherText, launcher_texts
from .values import Unsupported


@record(frozen=True)
class TritonLauncher:
    """One launcher function of the wrapper.

    ``params`` are its parameters in order, without device index, stream and the like.  ``grid`` binds ``grid.0``..
    ``grid.2`` over its integer parameters.  ``constants`` are the compile-time integers already in the kernel.  ``assumption``
    says what was taken for granted about block sizes.  ``reason`` is set when there is no kernel source:
    what the launch does is unknown, and ``kernel`` has no accesses.  ``grid_loc`` is where the grid is
    computed; ``returns_when_empty`` says that the launcher skips a launch with an empty grid.
    ``arguments``: what the kernel is given where that is not just ``params`` in order.
    """

    name: str
    kernel: Kernel
    params: tuple[str, ...]
    grid: tuple[Expr, Expr, Expr] | None
    constants: tuple[tuple[str, Expr], ...]
    assumption: str
    reason: str | None
    loc: Loc
    grid_loc: Loc
    returns_when_empty: bool
    arguments: Arguments | None = None


def find_launchers(text: str, path: str) -> dict[str, TritonLauncher]:
    """Every Triton launcher of a wrapper, by the name it is called by."""
    out: dict[str, TritonLauncher] = {}
    names: set[str] = set()
    for t in launcher_texts(text):
        launcher = read_launcher(t, path)
        if launcher.kernel.name in names:  # one function, compiled for other constants
            launcher = replace(launcher, kernel=replace(launcher.kernel, name=t.name.removeprefix("call_")))
        names.add(launcher.kernel.name)
        out[t.name] = launcher
    return out


def read_launcher(t: LauncherText, path: str) -> TritonLauncher:
    """The kernel behind one launcher; without a source that can be read, why."""
    loc = Loc(path, t.line)
    grid_loc = Loc(path, t.grid_line)
    if t.python is None:
        return _without_source(t, loc, grid_loc, "the text holds no source of this kernel")
    try:
        kernel = read_kernel(t, t.python)
        arguments = read_arguments(t, kernel.params)
    except Unsupported as e:
        return _without_source(t, loc, grid_loc, str(e))
    read = _kernel(kernel, path)
    return TritonLauncher(
        t.name, read if arguments is None else shifted(read, arguments), t.params, kernel.grid,
        tuple((k, const(v)) for k, v in kernel.constants.items() if type(v) is int),
        kernel.assumption, None, loc, grid_loc, t.returns_when_empty, arguments,
    )  # fmt: skip


def _without_source(t: LauncherText, loc: Loc, grid_loc: Loc, reason: str) -> TritonLauncher:
    kernel = Kernel(t.name.removeprefix("call_"), "triton", (), (), loc, ((reason, loc),))
    return TritonLauncher(t.name, kernel, t.params, None, (), "", reason, loc, grid_loc, t.returns_when_empty)


def _kernel(text: KernelText, path: str) -> Kernel:
    first, fn_loc = _accesses(text, path)
    others = [(said, _accesses(replace(text, constants=values), path)[0]) for said, values in text.choices]
    accesses = with_alternatives(first, others, text.widest) if others else first
    written = {a.param for a in accesses if a.kind != "load"}
    params = tuple(replace(p, readonly=p.pointer and p.name not in written) for p in text.params)
    pointers = {p.name for p in params if p.pointer}
    return Kernel(
        text.name, "triton", params, accesses, fn_loc, (),
        tuple(a for a in text.alignments if a[0] in pointers),
    )  # fmt: skip


def _accesses(text: KernelText, path: str) -> tuple[tuple[Access, ...], Loc]:
    """What the kernel touches with its compile-time arguments as given, and where it stands."""
    state = read_body(text)
    found = [build(state, raw, location(state, raw.node, path)) for raw in state.accesses]
    lost = (a for x in state.lost for a in unknown_accesses(x, text.params, location(state, x.node, path)))
    return (*found, *dict.fromkeys(lost)), location(state, text.fn, path)

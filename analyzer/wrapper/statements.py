"""Statements of one graph body (``run_impl`` and the like) to events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from ..cxx.nodes import Node
from ..model.program import Assert, Branch, Event, Exit, Loop, Move, Output, Reset, Unmodelled
from ..model.record import replace
from ..symbolic import Cond, Expr
from . import declarations, launches, shims
from .completeness import cover, handles, is_runtime_call, lose, missed, walk
from .context import Context
from .host import Handle, NotUnderstood, Text_, arithmetic
from .operands import WRAPPERS, condition, dtype_of, handle, integer, ints, output_index

_QUIET_CALLS = frozenset(("__check_inputs_outputs", "printf", "AOTI_TORCH_WARN", "assert_numel", "assert_alignment", "AOTI_RUNTIME_CUDA_CHECK",
                          "CUDA_DRIVER_CHECK", "convert_handle_to_arrayref_tensor", "arrayref_tensor_to_c"))  # fmt: skip


# -- sequences


def body(ctx: Context, nodes: Sequence[Node], start: int, end: int) -> None:
    """Statements in order, up to one after which nothing runs. What the parser left out between them is lost."""
    at = start
    for k in nodes:
        _gap(ctx, at, k.start)
        statement(ctx, k)
        if k.kind in ("return", "break", "continue", "throw") and not _labels(nodes):
            return
        at = k.end
    _gap(ctx, at, end)


def _labels(nodes: Sequence[Node]) -> bool:
    return any(k.type == "label" for k in nodes)


def _gap(ctx: Context, start: int, end: int) -> None:
    """Text that the parser dropped, or a preprocessor line that was not decided: it may do anything."""
    why = ctx.problem(start, end)
    if why is None:
        return
    gap = Node("other", None, [], start, max(end, start + 1))
    text = ctx.original[start:end]
    first = len(text) - len(text.lstrip(" \n\t;{}"))
    gap.start = min(start + first, gap.end - 1)
    words = re.findall(r"\w+", text)
    mentioned = (ctx.value(word) for word in words)
    names = sorted({v.name for v in mentioned if isinstance(v, Handle)})
    anything = "#" in text or not ctx.macros.isdisjoint(words)  # the preprocessor may put anything there
    ctx.emit(Unmodelled(ctx.text(gap)[:200], ctx.loc(gap), tuple(names), why, anything))


def block(ctx: Context, node: Node) -> None:
    with ctx.inner_scope():
        body(ctx, node.kids, node.start, node.end)


def statement(ctx: Context, node: Node) -> None:
    """One statement; what is not understood becomes an Unmodelled event."""
    mark = len(ctx.events)
    ctx.covered.clear()
    compound = _COMPOUND.get(node.type if node.kind == "other" else node.kind)
    try:
        if compound is not None:
            compound(ctx, node)
            return
        why = ctx.problem(node.start, node.end)
        if why is not None:
            raise NotUnderstood(why)
        handler = _STATEMENTS.get(node.kind)
        if handler is None:
            raise NotUnderstood(f"{node.type or node.kind} statement")
        handler(ctx, node)
    except NotUnderstood as e:
        del ctx.events[mark:]
        lose(ctx, node, str(e), everything=node.type == "goto")
        return
    left = missed(ctx, node, ctx.events[mark:], declares=node.kind in ("decl", "decls"))
    if left is not None:
        lose(ctx, node, left)


def leave(ctx: Context, node: Node) -> None:
    """``return`` and ``throw`` leave the function, ``break`` and ``continue`` the loop."""
    how: Literal["leave", "break", "continue"] = "leave"
    if node.kind == "break":
        how = "break"
    elif node.kind == "continue":
        how = "continue"
    ctx.emit(Exit(how, ctx.loc(node)))


def empty(ctx: Context, node: Node) -> None:
    """``;``"""


def types(ctx: Context, node: Node) -> None:
    """Declarations of types and compile-time checks. Raises NotUnderstood for anything else."""
    if not re.match(r"(?:using|typedef|static_assert|namespace)\b", str(node.value)):
        raise NotUnderstood("statement")


def decls(ctx: Context, node: Node) -> None:
    for k in node.kids:
        if k.kind != "decl":
            raise NotUnderstood("declaration")
        k.type = k.type or node.kids[0].type
        declarations.decl(ctx, k)


# -- expression statements
def call(ctx: Context, node: Node) -> None:
    name = str(node.value)
    ctx.account(node)
    if node.value is None:
        _function_object(ctx, node)
    elif name == "AOTI_TORCH_ERROR_CODE_CHECK":
        inner = node.kids[0]
        if inner.kind != "call":
            raise NotUnderstood("checked expression")
        call(ctx, inner)
    elif name == "assert_size_stride":
        _assert(ctx, node)
    elif name in ("AOTI_TORCH_CHECK", "TORCH_CHECK"):
        shims.check(ctx, node.kids[0])
    elif name == "aoti_torch_mps_run_command_block":
        _metal(ctx, node)
    elif name.startswith("aoti_torch_"):
        shims.shim(ctx, node)
    elif name.startswith("call_") or name in ctx.launchers:
        launches.triton_launch(ctx, node)
    elif name == "launchKernel":
        launches.inline_launch(ctx, node)
    elif name in WRAPPERS and node.kids:
        handle(ctx, node)
    elif name in _QUIET_CALLS:
        cover(ctx, node)
    elif launches.launches_kernel(ctx, node):
        launches.cpp_launch(ctx, node)
    else:
        raise NotUnderstood(f"call of {name}")


def _metal(ctx: Context, node: Node) -> None:
    library = re.search(r"get_(\w+)_handle", ctx.original[node.kids[0].start : node.kids[0].end])
    wrapper = node.kids[-1]
    while wrapper.kind in ("un", "cast"):
        wrapper = wrapper.kids[0]
    body = ctx.value(wrapper.value) if wrapper.kind == "name" else None
    if library is None or not isinstance(body, Node) or not body.kids:
        raise NotUnderstood("command block")
    launches.metal_launch(ctx, library.group(1), body.kids[0], node)


def method(ctx: Context, node: Node) -> None:
    base = node.kids[0] if node.kids else None
    if node.value in ("reset", "clear") and base is not None:
        value = ctx.value(str(base.value)) if base.kind == "name" else None
        if isinstance(value, Handle):
            ctx.emit(Reset(value.name, ctx.loc(node)))
        elif node.value == "reset" and value is None and base.kind != "index":
            raise NotUnderstood("reset of an unknown name")
    elif node.value == "runCommandBlock":
        m = re.search(r"(?:get_)?(mps_lib_\d+)", ctx.original[node.start : node.end])
        body = node.kids[-1]
        if m is None or body.kind != "lambda" or not body.kids:
            raise NotUnderstood("command block")
        launches.metal_launch(ctx, m.group(1), body.kids[0], node)
    elif node.value in ("copy_data_from", "emplace", "set_index", "ensure", "push_back"):
        return
    else:
        raise NotUnderstood(f"method {node.value}")


def assign(ctx: Context, node: Node) -> None:
    target, source = node.kids
    index = output_index(ctx, target)
    if index is not None:
        _output(ctx, node, index, source)
        return
    if target.kind != "name":
        raise NotUnderstood("assignment")
    name = str(target.value)
    if name.startswith("cached_output_") or name.startswith("output_arrayref"):
        base = handle(ctx, source)
        cover(ctx, target)
        if base is not None:
            ctx.emit(Output(len(ctx.events), base, ctx.loc(node), released=False))
        return
    if source.kind == "call" and source.value == "loadKernel":
        _load(ctx, name, source)
        return
    current = ctx.value(name)
    if isinstance(current, Handle):
        inner = source.kids[0] if source.kind == "call" and source.value == "move" else source
        base = handle(ctx, inner)
        if base is None:
            raise NotUnderstood("assignment to a tensor")
        ctx.emit(Move(current.name, base, ctx.loc(node)))
        return
    _assign_number(ctx, name, str(node.value), source)


def _load(ctx: Context, variable: str, node: Node) -> None:
    """``k = loadKernel(file, "name", …)``, which happens once; two names for one variable are none."""
    names = [str(k.value).strip('"') for k in node.kids if k.kind == "str"]
    name = names[1] if len(names) > 1 else variable
    ctx.loaded[variable] = name if ctx.loaded.get(variable, name) == name else "one of several kernels"


def _assign_number(ctx: Context, name: str, op: str, source: Node) -> None:
    """``n = e``, ``n += e``: a value that is not understood makes the variable unknown."""
    old = ctx.value(name)
    try:
        new = integer(ctx, source)
        if op != "=":
            if not isinstance(old, Expr):
                raise NotUnderstood(f"operator {op}")
            new = arithmetic(op.removesuffix("="), old, new)
    except NotUnderstood:
        ctx.scope.assign(name, Text_(ctx.text(source)))
    else:
        ctx.scope.assign(name, new)


def step(ctx: Context, node: Node) -> None:
    """``++n;`` and ``n--;``. Raises NotUnderstood for other operators."""
    op, target = str(node.value).removeprefix("post"), node.kids[0] if node.kids else None
    value = ctx.value(str(target.value)) if target is not None and target.kind == "name" else None
    if op not in ("++", "--") or target is None or not isinstance(value, (Expr, Text_)):
        raise NotUnderstood("expression statement")
    if isinstance(value, Expr):
        ctx.scope.assign(str(target.value), value + (1 if op == "++" else -1))


def _output(ctx: Context, node: Node, index: int, source: Node) -> None:
    same = output_index(ctx, source)
    if same is not None:
        ctx.emit(Output(index, None, ctx.loc(node), same))
        return
    if source.kind == "method" and source.value in ("release", "get"):
        name = handle(ctx, source.kids[0])
    else:
        name = handle(ctx, source)
    if name is None:
        raise NotUnderstood("output")
    released = source.kind == "method" and source.value == "release"
    ctx.emit(Output(index, name, ctx.loc(node), released=released))


def _assert(ctx: Context, node: Node) -> None:
    name = handle(ctx, node.kids[0])
    sizes, strides = _braces(ctx, node.kids[1]), _braces(ctx, node.kids[2])
    if name is None or sizes is None or strides is None:
        raise NotUnderstood("assert_size_stride")
    what = str(node.kids[3].value).strip('"') if len(node.kids) > 3 else ""
    dtype = dtype_of(ctx.text(node.kids[4])) if len(node.kids) > 4 else None
    ctx.emit(Assert(name, sizes, strides, ctx.loc(node), dtype, what))


def _braces(ctx: Context, node: Node) -> tuple[Expr, ...] | None:
    return () if not node.kids and node.kind != "name" else ints(ctx, node)


# -- control flow


def if_(ctx: Context, node: Node) -> None:
    """An ``if``: which arm runs may be known, may be a check, or may be known to no one."""
    cond, arms = node.kids[0], node.kids[1:]
    constant = _constant(cond)
    if constant is not None:
        for arm in arms[:1] if constant else arms[1:]:
            _inline(ctx, arm)
        return
    if cond.kind == "call" and cond.value == "_check_aoti_runtime_check_inputs_env":
        _inline(ctx, arms[0])  # these checks are the wrapper's own, of what it is called with
    elif _of_types(cond):
        _by_type(ctx, arms)
    elif is_alignment_copy(ctx, cond, arms):
        # the copy of a misaligned input keeps its layout
        ctx.aligned.update(re.findall(r"(\w+)\.data_ptr\(\)", ctx.original[cond.start : cond.end]))
    elif _leaves(arms[0]):
        condition_read(ctx, cond)
        shims.check(ctx, cond, negate=True)
        for arm in arms[1:]:
            _inline(ctx, arm)
    else:
        _branch(ctx, node)


def _constant(cond: Node) -> bool | None:
    while cond.kind == "cast":
        cond = cond.kids[0]
    return bool(cond.value) if cond.kind == "int" else None


def _of_types(cond: Node) -> bool:
    """``std::is_same_v<…>`` alternatives: an output of the array interface."""
    if cond.kind == "bin" and cond.value == "||":
        return all(_of_types(k) for k in cond.kids)
    return cond.kind in ("name", "other") and "is_same_v" in str(cond.value)


#: Calls that an output kept as a stack array may need.
_BY_VALUE = frozenset((
    "reinterpret_tensor_wrapper", "aoti_torch_new_uninitialized_tensor", "aoti_torch_assign_tensors",
))  # fmt: skip


def _by_type(ctx: Context, arms: Sequence[Node]) -> None:
    """Which arm is compiled depends on types alone; both hand one tensor on as an output."""
    mark = len(ctx.events)
    of = handles(ctx, arms[0])
    _inline(ctx, arms[0])
    ctx.events[mark:] = [
        replace(e, released=False) if isinstance(e, Output) else e for e in ctx.events[mark:]
    ]
    for arm in arms[1:]:
        calls = {n.value for n in walk(arm) if is_runtime_call(ctx, n) or n.kind == "lambda"}
        if calls <= _BY_VALUE and handles(ctx, arm) <= of:
            continue  # the same tensor as a stack array
        raise NotUnderstood("alternatives by type")


def is_alignment_copy(ctx: Context, cond: Node, arms: Sequence[Node]) -> bool:
    """``if ((uintptr_t(x.data_ptr()) & 15) != 0) { … clone_preserve_strides(x, …); x = …; }`` and nothing else."""
    of = handles(ctx, cond)
    if (
        len(of) != 1
        or len(arms) != 1
        or not any(n.kind == "method" and n.value == "data_ptr" for n in walk(cond))
    ):
        return False
    fresh = {str(n.value) for n in walk(arms[0]) if n.kind == "decl"}
    calls = [n for n in walk(arms[0]) if is_runtime_call(ctx, n)]
    changed = {str(n.kids[0].value) for n in walk(arms[0]) if n.kind == "assign"}
    return (
        len(calls) == 1
        and calls[0].value == "aoti_torch_clone_preserve_strides"
        and all(k.kind in ("decl", "call", "assign") for k in _parts(arms[0]))
        and handles(ctx, arms[0]) == of
        and changed - fresh <= {n for n in changed if ctx.value(n) == Handle(next(iter(of)))}
    )


def _parts(node: Node) -> list[Node]:
    return node.kids if node.kind == "block" else [node]


def condition_read(ctx: Context, cond: Node) -> None:
    """A condition only compares; a call of the runtime in it was not understood."""
    left = missed(ctx, cond, (), declares=False)
    if left is not None and not left.startswith("use of"):
        lose(ctx, cond, f"{left}, in a condition")


def _inline(ctx: Context, node: Node) -> None:
    """The statements of an arm that is known to run, in the scope around it."""
    if node.kind == "block":
        body(ctx, node.kids, node.start, node.end)
    else:
        statement(ctx, node)


def _leaves(arm: Node) -> bool:
    """Whether an arm does nothing but leave the function."""
    kids = _parts(arm)
    last = kids[-1] if kids else None
    if last is None or any(n.kind in ("lambda", "assign") for n in walk(arm)):
        return False
    throws = last.kind == "throw" or (last.kind == "call" and last.value == "throw")
    return (throws or last.kind == "return") and not any(
        n.kind == "call" and str(n.value).startswith(("aoti_torch_", "cpp_fused", "call_")) for n in walk(arm)
    )


def _branch(ctx: Context, node: Node) -> None:
    cond, arms = node.kids[0], node.kids[1:]
    condition_read(ctx, cond)
    holds: Cond | None
    try:
        holds = condition(ctx, cond)
    except NotUnderstood:
        holds = None
    read = alternatives(ctx, [(arm,) for arm in arms] + [()] * (len(arms) == 1))
    if any(read):
        ctx.emit(Branch(read, ctx.loc(node), (holds, None if holds is None else ~holds)))


def alternatives(ctx: Context, arms: Iterable[Sequence[Node]]) -> tuple[tuple[Event, ...], ...]:
    """The events of each arm. Variables that any of them changes are not known after them."""
    before = ctx.scope.snapshot()
    out, ends = [], []
    for nodes in arms:
        ctx.scope.restore(before)
        with ctx.capture() as events, ctx.inner_scope():
            for k in nodes:
                _arm(ctx, k)
        out.append(tuple(events))
        ends.append(ctx.scope.snapshot())
    ctx.scope.merge(before, ends)
    return tuple(out)


def _arm(ctx: Context, node: Node) -> None:
    if node.kind == "block":
        block(ctx, node)
    else:
        statement(ctx, node)


def conditional(ctx: Context, node: Node) -> None:
    """``c ? f() : g();``"""
    _branch(ctx, node)


def while_(ctx: Context, node: Node) -> None:
    cond = node.kids[0]
    constant = _constant(cond)
    if constant is False:
        return
    condition_read(ctx, cond)
    ctx.emit(Loop(_repeated(ctx, node.kids[-1]), ctx.loc(node), endless=constant is True))


def do(ctx: Context, node: Node) -> None:
    inner, cond = node.kids[0], node.kids[-1]
    condition_read(ctx, cond)
    if _constant(cond) is False and not any(n.kind in ("break", "continue") for n in walk(inner)):
        _arm(ctx, inner)
    else:
        ctx.emit(Loop(_repeated(ctx, inner), ctx.loc(node), least=1))


def for_(ctx: Context, node: Node) -> None:
    with ctx.inner_scope():
        for k in node.kids[:-1]:
            if k.kind in ("decl", "decls", "assign") and k is node.kids[0]:
                statement(ctx, k)
            else:
                condition_read(ctx, k)
        ctx.emit(Loop(_repeated(ctx, node.kids[-1], node.kids[:-1]), ctx.loc(node)))


def _repeated(ctx: Context, node: Node, head: Sequence[Node] = ()) -> tuple[Event, ...]:
    """The body of a loop. What it changes has no known value in it, nor after it."""
    for name in {n for k in (node, *head) for n in changed_names(k)}:
        value = ctx.value(name)
        if value is not None and not isinstance(value, (Handle, Node)):
            ctx.scope.assign(name, Text_(f"{name}, which a loop changes"))
    return alternatives(ctx, [(node,)])[0]


def changed_names(node: Node) -> Iterator[str]:
    """Variables that a node assigns, counts up or down, or hands out the address of."""
    for n in walk(node):
        changes = n.kind == "assign" or (n.kind == "un" and n.value in ("++", "--", "post++", "post--", "&"))
        if changes and n.kids and n.kids[0].kind == "name":
            yield str(n.kids[0].value)


def switch(ctx: Context, node: Node) -> None:
    """Cases that each end by leaving the switch. Raises NotUnderstood where one runs into the next."""
    selector, inner = node.kids[0], node.kids[-1]
    condition_read(ctx, selector)
    if inner.kind != "block" or any(k.type == "label" for k in inner.kids):
        raise NotUnderstood("switch")
    cases: list[list[Node]] = []
    default = False
    for k in inner.kids:
        entered = False
        while k.kind in ("case", "default"):
            default = default or k.kind == "default"
            if not entered:
                if cases and cases[-1][-1].kind not in ("break", "return", "throw"):
                    raise NotUnderstood("a case that runs into the next")
                cases.append([])
            entered = True
            k = k.kids[-1]
        if not cases:
            raise NotUnderstood("switch")
        cases[-1].append(k)
    arms = [c[:-1] if c[-1].kind == "break" else c for c in cases]
    if any(n.kind == "break" for c in arms for k in c for n in walk(k) if k.kind not in ("for", "while")):
        raise NotUnderstood("a case that is left in the middle")
    ctx.emit(Branch(alternatives(ctx, arms + [[]] * (not default)), ctx.loc(node)))


def try_(ctx: Context, node: Node) -> None:
    """The guarded block runs; a handler that goes on may run after any part of it."""
    _arm(ctx, node.kids[0])
    for handler in node.kids[1:]:
        rest = handler.kids[-1] if handler.kids else handler
        if not _leaves(rest):
            lose(ctx, node, "a handler that goes on after an exception", everything=True)


def label(ctx: Context, node: Node) -> None:
    """A label: what stands after it runs as well after a jump, from wherever that is."""
    name = str(node.value).split(":")[0].strip()
    if re.search(rf"\bgoto\s+{re.escape(name)}\b", ctx.original):
        ctx.emit(Unmodelled(f"{name}:", ctx.loc(node), (), "a label that is jumped to", everything=True))
    for k in node.kids:
        statement(ctx, k)


def _function_object(ctx: Context, node: Node) -> None:
    """``f()`` or ``[&] { … }()``: the body of a lambda runs here."""
    callee = node.kids[0] if node.kids else None
    value: object = callee
    if callee is not None and callee.kind == "name":
        value = ctx.value(str(callee.value))
    if not isinstance(value, Node) or value.kind != "lambda" or len(node.kids) > 1 or not value.kids:
        raise NotUnderstood("call of a function object")
    _call_lambda(ctx, value)


def _call_lambda(ctx: Context, value: Node) -> None:
    """Its body in a scope of its own. Raises NotUnderstood where that would not be the same."""
    inner = value.kids[0]
    returns = [n for n in walk(inner) if n.kind == "return"]
    if not value.type.replace(" ", "").startswith("[&]") or inner.start in ctx.running:
        raise NotUnderstood("call of a lambda")
    if returns and returns != inner.kids[-1:]:
        raise NotUnderstood("a lambda that returns early")
    ctx.running.add(inner.start)
    with ctx.inner_scope():
        body(ctx, [k for k in inner.kids if k.kind != "return"], inner.start, inner.end)
    ctx.running.discard(inner.start)


_COMPOUND: dict[str, Callable[[Context, Node], None]] = {
    "block": block, "if": if_, "while": while_, "do": do, "for": for_, "switch": switch, "try": try_,
    "label": label, "cond": conditional,
}  # fmt: skip
_STATEMENTS: dict[str, Callable[[Context, Node], None]] = {
    "decl": declarations.decl, "decls": decls, "call": call, "method": method, "assign": assign,
    "return": leave, "break": leave, "continue": leave, "throw": leave, "empty": empty, "construct": call,
    "other": types, "un": step,
}  # fmt: skip

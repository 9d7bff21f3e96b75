"""Statements of one graph body (``run_impl`` and the like) to events."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..cxx.clang_unit import Unit
from ..cxx.comments import source_nodes
from ..cxx.nodes import Node
from ..model.kernel import Kernel
from ..model.location import Loc
from ..model.program import Assert, Branch, Call, Event, Loop, Move, Output, Reset, Symbol, Unmodelled
from ..model.record import replace
from ..symbolic import Expr, sym
from . import calls, declarations, launches
from .host import (
    Constants,
    Handle,
    NotUnderstood,
    Scope,
    SizesOf,
    Text_,
    Value,
    integer,
)  # fmt: skip

if TYPE_CHECKING:
    from ..kernels.triton.reader import TritonLauncher

_QUIET_CALLS = frozenset(("__check_inputs_outputs", "printf", "AOTI_TORCH_WARN", "assert_numel", "AOTI_RUNTIME_CUDA_CHECK",
                          "CUDA_DRIVER_CHECK", "convert_handle_to_arrayref_tensor", "arrayref_tensor_to_c"))  # fmt: skip


class Reader:
    """Walks the statements of one body. Tables: names in scope, kernels, launchers; output: events."""

    def __init__(
        self,
        unit: Unit,
        original: str,
        kernels: Mapping[str, Kernel],
        launchers: Mapping[str, TritonLauncher],
        diagnostics: list[tuple[int, str]],
    ) -> None:
        self.unit = unit
        self.original = original
        self.kernels = kernels
        self.launchers = launchers
        self.scope = Scope()
        self.events: list[Event] = []
        self.symbols: dict[str, Symbol] = {}
        self.inputs: dict[int, tuple[str, Loc]] = {}
        self.constants: list[tuple[str, int]] = []
        self.dims: dict[tuple[str, bool, int], Expr] = {}
        self._broken = sorted(o for o, _ in diagnostics)
        self._messages = dict(diagnostics)
        self._count = 0
        self.scope.define("constants_", Constants())

    # -- services for calls.py
    def loc(self, node: Node) -> Loc:
        return self.unit.loc(node)

    def text(self, node: Node) -> str:
        return " ".join(self.original[node.start : node.end].split())

    def emit(self, event: Event) -> None:
        self.events.append(calls.consistent(event))

    def temporary(self) -> str:
        self._count += 1
        return f"%{self._count}"

    def value(self, name: str) -> Value:
        try:
            return self.scope.get(name)
        except KeyError:
            return None

    def lookup(self, node: Node) -> Expr:
        """Leaves of integer expressions: variables and size queries."""
        if node.kind == "name":
            value = self.value(node.value)
            if isinstance(value, Expr):
                return value
        if node.kind == "index" and len(node.kids) == 2 and node.kids[0].kind == "name":
            base, dim = self.value(node.kids[0].value), node.kids[1]
            if isinstance(base, SizesOf) and dim.kind == "int":
                return self.dim(base.name, base.strides, dim.value, self.loc(node))
        if node.kind == "index" and node.kids and node.kids[0].kind == "method":
            method = node.kids[0]
            name = calls.handle(self, method.kids[0]) if method.kids else None
            if name is not None and method.value in ("sizes", "strides") and node.kids[1].kind == "int":
                return self.dim(name, method.value == "strides", node.kids[1].value, self.loc(node))
        if node.kind == "method" and node.value in ("size", "stride") and len(node.kids) == 2:
            name = calls.handle(self, node.kids[0])
            if name is not None and node.kids[1].kind == "int":
                return self.dim(name, node.value == "stride", node.kids[1].value, self.loc(node))
        raise NotUnderstood(self.text(node))

    def integer(self, node: Node) -> Expr:
        return integer(node, self.lookup)

    def ints(self, node: Node) -> tuple[Expr, ...] | None:
        """The integers of an array variable or braces; None when it is no integer list."""
        while node.kind == "cast" or (node.kind == "call" and node.value == "temporary_reference"):
            node = node.kids[0]
        if node.kind == "method" and node.value in ("data", "cbegin", "begin") and node.kids:
            return self.ints(node.kids[0])
        if node.kind == "name":
            value = self.value(node.value)
            if isinstance(value, tuple):
                return tuple(v for v in value if isinstance(v, Expr))
            return None
        if node.kind in ("init", "construct") and node.value in (None, "array", "initializer_list"):
            try:
                out: list[Expr] = []
                for k in node.kids:
                    out += self.ints(k) or () if k.kind in ("init", "construct") else (self.integer(k),)
                return tuple(out)
            except NotUnderstood:
                return None
        return None

    def dim(self, name: str, strides: bool, index: int, loc: Loc) -> Expr:
        """The symbol for a size or stride of a tensor that is read at run time."""
        key = (name, strides, index)
        if key not in self.dims:
            label = f"{name}_{'stride' if strides else 'size'}_{index}"
            self.dims[key] = sym(label)
            self.symbols[label] = Symbol(label, 0, None, loc)
        return self.dims[key]

    def is_pending(self, name: str) -> bool:
        value = self.value(name)
        return isinstance(value, Text_) and value.text == "?"

    def bind_symbol(self, name: str, loc: Loc, lo: int | None = 0, hi: int | None = None) -> None:
        label = name.removesuffix("_raw")
        self.symbols[label] = Symbol(label, -(2**63) if lo is None else lo, hi, loc, backed=False)
        self.scope.assign(name, sym(label))

    def output_index(self, node: Node) -> int | None:
        if node.kind == "index" and node.kids[0].kind == "name" and node.kids[0].value == "output_handles":
            return self.integer(node.kids[1]).value
        return None

    def output_result(self, index: int) -> str:
        name = f"output_{index}"
        return name

    def input_name(self, node: Node) -> str | None:
        if node.kids and node.kids[0].kind == "name" and node.kids[0].value in ("inputs", "input_handles"):
            index = self.integer(node.kids[1]).value
            if index is not None:
                return self.inputs.get(index, (f"inputs[{index}]", None))[0]
        return None

    def source_nodes(self, node: Node) -> tuple[str, ...]:
        return source_nodes(self.original, node.start)

    # -- statements
    def block(self, node: Node) -> None:
        outer = self.scope
        self.scope = Scope(outer)
        for k in node.kids:
            self.statement(k)
        self.scope = outer

    def statement(self, node: Node) -> None:
        """One statement; what is not understood becomes an Unmodelled event."""
        broken = self._diagnostic(node)
        if broken is not None and node.kind not in ("block", "if", "while"):
            self.emit(calls.unmodelled(self, node, broken))
            self._poison(node)
            return
        handler = _STATEMENTS.get(node.kind)
        mark = len(self.events)
        try:
            if handler is None:
                raise NotUnderstood(f"{node.kind} statement")
            handler(self, node)
        except NotUnderstood as e:
            del self.events[mark:]
            self.emit(calls.unmodelled(self, node, str(e)))

    def _poison(self, node: Node) -> None:
        """After a declaration that is not valid C++, its name stands for nothing that is known."""
        if node.kind != "decl":
            return
        name = str(node.value)
        if declarations.HANDLE_TYPES.search(node.type) or isinstance(self.value(name), Handle):
            self.scope.define(name, Handle(name))
            self.emit(Call("unmodelled", (), (name,), self.loc(node), self.text(node)))
        else:
            self.scope.define(name, Text_("?"))

    def _diagnostic(self, node: Node) -> str | None:
        from bisect import bisect_left

        i = bisect_left(self._broken, node.start)
        if i < len(self._broken) and self._broken[i] < node.end:
            return f"not valid C++: {self._messages[self._broken[i]]}"
        return None

    def quiet(self, node: Node) -> None:
        """Statements without meaning for tensors: return, break, throw, using."""

    def decls(self, node: Node) -> None:
        for k in node.kids:
            if k.kind == "decl":
                declarations.decl(self, k)

    # -- expression statements
    def call(self, node: Node) -> None:
        name = str(node.value)
        if name == "AOTI_TORCH_ERROR_CODE_CHECK":
            inner = node.kids[0]
            if inner.kind != "call":
                raise NotUnderstood("checked expression")
            self.call(inner)
        elif name == "assert_size_stride":
            self._assert(node)
        elif name in ("AOTI_TORCH_CHECK", "TORCH_CHECK"):
            calls.check(self, node.kids[0])
        elif name == "aoti_torch_mps_run_command_block":
            self._metal(node)
        elif name.startswith("aoti_torch_"):
            calls.shim(self, node)
        elif name.startswith("call_") or name in self.launchers:
            launches.triton_launch(self, node)
        elif name in calls.WRAPPERS and node.kids:
            calls.handle(self, node)
        elif name in _QUIET_CALLS:
            return
        elif launches.launches_kernel(self, node):
            launches.cpp_launch(self, node)
        else:
            raise NotUnderstood(f"call of {name}")

    def _metal(self, node: Node) -> None:
        library = re.search(r"get_(\w+)_handle", self.original[node.kids[0].start : node.kids[0].end])
        wrapper = node.kids[-1]
        while wrapper.kind in ("un", "cast"):
            wrapper = wrapper.kids[0]
        body = self.value(wrapper.value) if wrapper.kind == "name" else None
        if library is None or not isinstance(body, Node) or not body.kids:
            raise NotUnderstood("command block")
        launches.metal_launch(self, library.group(1), body.kids[0], node)

    def method(self, node: Node) -> None:
        base = node.kids[0] if node.kids else None
        if node.value in ("reset", "clear") and base is not None:
            value = self.value(str(base.value)) if base.kind == "name" else None
            if isinstance(value, Handle):
                self.emit(Reset(value.name, self.loc(node)))
            elif node.value == "reset" and value is None and base.kind != "index":
                raise NotUnderstood("reset of an unknown name")
        elif node.value == "runCommandBlock":
            m = re.search(r"(?:get_)?(mps_lib_\d+)", self.original[node.start : node.end])
            body = node.kids[-1]
            if m is None or body.kind != "lambda" or not body.kids:
                raise NotUnderstood("command block")
            launches.metal_launch(self, m.group(1), body.kids[0], node)
        elif node.value in ("copy_data_from", "emplace", "set_index", "ensure", "push_back"):
            return
        else:
            raise NotUnderstood(f"method {node.value}")

    def assign(self, node: Node) -> None:
        target, source = node.kids
        index = self.output_index(target)
        if index is not None:
            self._output(node, index, source)
            return
        if target.kind != "name":
            raise NotUnderstood("assignment")
        name = str(target.value)
        if name.startswith("cached_output_") or name.startswith("output_arrayref"):
            base = calls.handle(self, source)
            if base is not None:
                self.emit(Output(len(self.events), base, self.loc(node), released=False))
            return
        current = self.value(name)
        if isinstance(current, Handle):
            inner = source.kids[0] if source.kind == "call" and source.value == "move" else source
            base = calls.handle(self, inner)
            if base is None:
                raise NotUnderstood("assignment to a tensor")
            self.emit(Move(current.name, base, self.loc(node)))
            return
        try:
            self.scope.assign(name, self.integer(source))
        except NotUnderstood:
            self.scope.assign(name, Text_(self.text(source)))

    def _output(self, node: Node, index: int, source: Node) -> None:
        same = self.output_index(source)
        if same is not None:
            self.emit(Output(index, None, self.loc(node), same))
            return
        if source.kind == "method" and source.value in ("release", "get"):
            name = calls.handle(self, source.kids[0])
        else:
            name = calls.handle(self, source)
        if name is None:
            raise NotUnderstood("output")
        released = source.kind == "method" and source.value == "release"
        self.emit(Output(index, name, self.loc(node), released=released))

    def _assert(self, node: Node) -> None:
        name = calls.handle(self, node.kids[0])
        sizes, strides = self._braces(node.kids[1]), self._braces(node.kids[2])
        if name is None or sizes is None or strides is None:
            raise NotUnderstood("assert_size_stride")
        what = str(node.kids[3].value).strip('"') if len(node.kids) > 3 else ""
        dtype = calls.dtype_of(self.text(node.kids[4])) if len(node.kids) > 4 else None
        self.emit(Assert(name, sizes, strides, self.loc(node), dtype, what))

    def _braces(self, node: Node) -> tuple[Expr, ...] | None:
        return () if not node.kids and node.kind != "name" else self.ints(node)

    # -- control flow
    def if_(self, node: Node) -> None:
        cond, body = node.kids[0], node.kids[1]
        text = self.original[cond.start : cond.end]
        if "_check_aoti_runtime_check_inputs_env" in text:
            self._inline(body)
        elif (
            "is_same_v" in text
        ):  # an output of the array interface: which branch is compiled depends on types
            mark = len(self.events)
            self._inline(body)
            self.events[mark:] = [
                replace(e, released=False) if isinstance(e, Output) else e for e in self.events[mark:]
            ]
        elif "data_ptr()" in text and "16" in text:
            return  # the copy of a misaligned input keeps its layout
        elif self._throws(body):
            calls.check(self, cond, negate=True)
        else:
            self._branch(node)

    def _inline(self, body: Node) -> None:
        for k in body.kids if body.kind == "block" else [body]:
            self.statement(k)

    def _throws(self, body: Node) -> bool:
        kids = body.kids if body.kind == "block" else [body]
        return (bool(kids) and kids[-1].kind == "throw") or any(
            k.kind == "call" and k.value == "throw" for k in kids
        )

    def _branch(self, node: Node) -> None:
        arms = []
        for arm in node.kids[1:]:
            arms.append(self._captured(arm))
        if len(arms) == 1:
            arms.append(())
        self.emit(Branch(tuple(arms), self.loc(node)))

    def _captured(self, body: Node) -> tuple[Event, ...]:
        outer, self.events = self.events, []
        if body.kind == "block":
            self.block(body)
        else:
            self.statement(body)
        events, self.events = self.events, outer
        return tuple(events)

    def while_(self, node: Node) -> None:
        self.emit(Loop(self._captured(node.kids[-1]), self.loc(node)))

    def unmodelled_events(self) -> list[Unmodelled]:
        return [e for e in self.events if isinstance(e, Unmodelled)]


_STATEMENTS: dict[str, Callable[[Reader, Node], None]] = {
    "decl": declarations.decl, "decls": Reader.decls, "call": Reader.call, "method": Reader.method,
    "assign": Reader.assign, "if": Reader.if_, "while": Reader.while_, "block": Reader.block,
    "return": Reader.quiet, "break": Reader.quiet, "throw": Reader.quiet, "empty": Reader.quiet,
    "construct": Reader.call, "other": Reader.quiet,
}  # fmt: skip

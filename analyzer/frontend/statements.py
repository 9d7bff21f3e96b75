"""Statements of one graph body (``run_impl`` and the like) to events."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..expr import Expr, Op, sym
from ..program import (
    Alloc, Assert, Branch, Call, Event, Kernel, Loc, Loop, Move, Output, Own, Reset, Symbol, Unmodelled, View,
)  # fmt: skip
from . import calls
from .cxx import Node, Unit
from .host import (
    Constants, Handle, NotUnderstood, Pointer, Scope, SizesOf, Text_, Value, integer,
)  # fmt: skip

if TYPE_CHECKING:
    from .triton import TritonLauncher

_HANDLE_TYPES = re.compile(r"\b(?:RAII)?AtenTensorHandle$|\bConstantHandle$")
_INT_TYPES = re.compile(r"\b(?:u?int\d*_t|int|long|size_t|bool|auto)\b\s*&?$")
#: Declarations that concern streams, guards, profiling or bookkeeping, not tensors.
_NO_TENSORS = re.compile(
    r"Guard\b|RecordFunction|\bKernelContext|\bcudaStream_t\b|\bhipStream_t\b|stringstream|\bC10IValueHandle"
    r"|\bRAIIC10IValueHandle|unordered_map|MetalKernelFunction|^static auto\b|\bRAIIPyObject\b"
)
_COMMENT = re.compile(r"//\s*(?:Topologically )?(?:Uns|S)(?:orted|ource)[^\[\n]*\[([^\]\n]*)\](?:, Original ATen: \[([^\]\n]*)\])?")
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
        self.events.append(event)

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
        """Model operations named in the comments directly above a statement."""
        line_start = self.original.rfind("\n", 0, node.start) + 1
        out: list[str] = []
        for _ in range(12):
            prev = self.original.rfind("\n", 0, max(line_start - 1, 0)) + 1
            line = self.original[prev : line_start - 1].strip()
            m = _COMMENT.search(line)
            if m:
                out = [x.strip() for g in m.groups() if g for x in g.split(",") if x.strip()]
                break
            if not re.match(r"(?:static )?const|AtenTensorHandle|RAIIAtenTensorHandle|int64_t|//|auto var_|int\d+_t var|double var", line):
                break
            line_start = prev
        return tuple(out)

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
        if _HANDLE_TYPES.search(node.type) or isinstance(self.value(name), Handle):
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
                self.decl(k)

    def decl(self, node: Node) -> None:
        name, type_ = str(node.value), node.type
        init = node.kids[-1] if node.kids else None
        if _NO_TENSORS.search(type_) and "std::function" not in type_:
            return
        if "ArrayRefTensor" in type_ and "ThreadLocal" not in type_:
            self._arrayref(node, name)
        elif "ThreadLocal" in type_ or "thread_local" in type_ or "tuple_element" in type_:
            self.scope.define(name, Handle(name))
        elif type_.endswith("*") and init is not None and init.kind == "null" and "int64_t" in type_:
            self.scope.define(name, ())
        elif init is None:
            self._uninitialised(name, type_)
        elif _HANDLE_TYPES.search(type_):
            self._handle(node, name, init)
        elif init.kind == "init" and re.search(r"int(?:64|32)_t\s*$", type_):
            values = self.ints(init)
            if values is None:
                raise NotUnderstood("size array")
            self.scope.define(name, values)
        elif init.kind == "lambda" or "std::function" in type_:
            self.scope.define(name, init if init.kind == "lambda" else self.value(init.value))
        elif type_ in ("float", "double", "const float", "const double") or "char" in type_:
            self.scope.define(name, Text_(self.text(init)))
        else:
            self._auto(node, name, init)

    def _uninitialised(self, name: str, type_: str) -> None:
        if _HANDLE_TYPES.search(type_):
            self.scope.define(name, Handle(name))
        else:
            self.scope.define(name, Text_("?"))

    def _handle(self, node: Node, name: str, init: Node) -> None:
        """``RAIIAtenTensorHandle x(h)`` or ``= call(…)``."""
        if init.kind == "name" and isinstance(v := self.value(init.value), Handle):
            self.scope.define(name, Handle(name))
            self.emit(Own(name, v.name, self.loc(node)))
        elif init.kind == "call" and init.value == "scalar_to_tensor_handle":
            self.scope.define(name, Handle(name))
            self.emit(Call("scalar_to_tensor_handle", (), (name,), self.loc(node), self.text(node)))
        elif init.kind in ("null", "construct") and not init.kids:
            self.scope.define(name, Handle(name))
        else:
            self._auto(node, name, init)

    def _arrayref(self, node: Node, name: str) -> None:
        """``ArrayRefTensor<float> b(b_storage, sizes, strides, device, index)``: storage on the stack."""
        from ..expr import product
        from .cpp_types import dtype_of_cpp

        args = node.kids[-1].kids if node.kids and node.kids[-1].kind in ("construct", "call") else []
        m = re.search(r"ArrayRefTensor<\s*([\w:]+)\s*>", node.type)
        self.scope.define(name, Handle(name))
        if len(args) < 3:
            return
        sizes, strides = self.ints(args[1]), self.ints(args[2])
        if sizes is None or strides is None:
            raise NotUnderstood("stack tensor")
        count = self.value(str(args[0].value))
        dtype = dtype_of_cpp(m.group(1)) if m else "float32"
        if isinstance(count, Expr) and count != product(sizes):
            self.emit(Alloc(f"{name}_storage", (count,), (sym("1"),), dtype, "cpu", self.loc(node), "stack"))
        self.emit(Alloc(name, sizes, strides, dtype, "cpu", self.loc(node), "stack"))

    def _auto(self, node: Node, name: str, init: Node) -> None:
        inner = calls._peel(init)
        if inner.kind == "call" and inner.value == "reinterpret_tensor_wrapper":
            note = self._line_comment(node)
            self.scope.define(name, Handle(name))
            calls.view(self, inner, name, note, self.loc(node))
        elif init.kind == "call" and init.value == "move":
            self._move(node, name, init)
        elif init.kind == "method" and init.value == "at" and isinstance(self._at(init), Constants):
            index = self.integer(init.kids[1]).value
            if index is None:
                raise NotUnderstood("constant index")
            self.scope.define(name, Handle(name))
            self.constants.append((name, index))
        elif init.kind == "method" and init.value in ("sizes", "strides"):
            base = calls.handle(self, init.kids[0])
            if base is None:
                raise NotUnderstood("sizes of something that is no tensor")
            self.scope.define(name, SizesOf(base, init.value == "strides"))
        elif init.kind == "call" and init.value == "get_data_ptr_wrapper":
            base = calls.handle(self, init.kids[0])
            if base is None:
                raise NotUnderstood("pointer to something that is no tensor")
            self.scope.define(name, Pointer(base))
        elif init.kind == "call" and init.value in (
            "steal_from_raw_handles_to_raii_handles", "alloc_tensors_by_stealing_from_handles",
        ):
            self.scope.define(name, Text_("inputs"))
        elif name == "kernels" or (init.kind == "name" and str(init.value).startswith("cached_torch_")):
            self.scope.define(name, Text_(self.text(init)))
        elif inner.kind == "call" and inner.value in ("get", "c_to_arrayref_tensor") and self._arrayref_input(name, node):
            pass
        elif init.kind in ("construct", "call", "cast") and (
            "RAIIAtenTensorHandle" in (str(init.value), init.type) and isinstance(v := self._held(inner), Handle)
        ):
            self.scope.define(name, Handle(name))
            self.emit(Own(name, v.name, self.loc(node)))
        elif inner.kind == "name" and isinstance(v := self.value(inner.value), Handle):
            self.scope.define(name, Handle(name))
            self.emit(View(name, v.name, None, None, sym("0") * 0, "alias", self.loc(node), "="))
        else:
            self._scalar(node, name, init)

    def _held(self, node: Node) -> Value:
        return self.value(node.value) if node.kind == "name" else None

    def _scalar(self, node: Node, name: str, init: Node) -> None:
        """``int64_t s77 = x_size[0]``: a size that names a symbol, or any integer expression."""
        if not _INT_TYPES.search(node.type):
            raise NotUnderstood(f"declaration of {name}")
        if init.kind in ("float", "str"):
            self.scope.define(name, Text_(self.text(init)))
            return
        value_of = self.value(init.value) if init.kind == "name" else None
        if isinstance(value_of, Text_):
            self.scope.define(name, value_of)
            return
        e = self.integer(init)
        fresh = self._fresh_dim(e)
        if fresh is None and re.fullmatch(r"[su]\d+", name):
            self._solved(e, name, node)
            self.scope.define(name, e if name not in self.symbols else sym(name))
            return
        if fresh is not None and name not in self.symbols:
            key, label = fresh
            backed = key[0] in {n for n, _ in self.inputs.values()}
            del self.symbols[label]
            self.dims[key] = sym(name)
            self.symbols[name] = Symbol(name, 0, None, self.loc(node), backed)
            self.scope.define(name, sym(name))
            return
        self.scope.define(name, e)

    def _solved(self, e: Expr, name: str, node: Node) -> None:
        """``s3 = (x_size_0 + c) // d``: the dimension is ``d*s3 - c`` and ``s3`` is the symbol."""
        if len(e.terms) != 1:
            return
        ((mono, k),) = e.terms.items()
        op = mono[0] if len(mono) == 1 and k == 1 else None
        if not isinstance(op, Op) or op.kind != "floordiv":
            return
        inner, d = op.args
        for key, value in self.dims.items():
            label = next(iter(value.symbols), "")
            if value == sym(label) and label in inner.symbols and inner.terms.get((label,)) == 1:
                rest = inner - value
                if label in rest.symbols:
                    continue
                solved = sym(name) * d - rest
                self.dims[key] = solved
                self.symbols.pop(label, None)
                self.symbols[name] = Symbol(name, 0, None, self.loc(node))
                self.scope.assign(label, solved)
                return

    def _fresh_dim(self, e: Expr) -> tuple[tuple[str, bool, int], str] | None:
        """The tensor dimension whose provisional symbol ``e`` is, to be named by this declaration."""
        if len(e.terms) != 1:
            return None
        for key, d in self.dims.items():
            if d == e and next(iter(d.symbols)) == f"{key[0]}_{'stride' if key[1] else 'size'}_{key[2]}":
                return key, next(iter(d.symbols))
        return None

    def _move(self, node: Node, name: str, init: Node) -> None:
        source = init.kids[0]
        if source.kind == "index":
            index = self.integer(source.kids[1]).value
            if index is None:
                raise NotUnderstood("input index")
            self.inputs[index] = (name, self.loc(node))
            self.scope.define(name, Handle(name))
            return
        base = calls.handle(self, source)
        if base is None:
            raise NotUnderstood("move of something that is no tensor")
        self.scope.define(name, Handle(name))
        self.emit(Move(name, base, self.loc(node)))

    def _arrayref_input(self, name: str, node: Node) -> bool:
        """``std::get<0>(inputs)`` and ``c_to_arrayref_tensor<float>(c_inputs[0])``."""
        m = re.search(r"get<(\d+)>\(inputs\)|c_inputs\[(\d+)\]", self.original[node.start : node.end])
        if m is None:
            return False
        self.inputs[int(m.group(1) or m.group(2))] = (name, self.loc(node))
        self.scope.define(name, Handle(name))
        return True

    def _at(self, init: Node) -> Value:
        base = init.kids[0] if init.kids else None
        return self.value(str(base.value)) if base is not None and base.kind in ("name", "member") else None

    def _line_comment(self, node: Node) -> str:
        end = self.original.find("\n", node.end)
        tail = self.original[node.end : end if end >= 0 else len(self.original)]
        m = re.search(r"//\s*(reuse|alias)\b", tail)
        return m.group(1) if m else ""

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
            calls.triton_launch(self, node)
        elif name in calls._WRAPPERS and node.kids:
            calls.handle(self, node)
        elif name in _QUIET_CALLS:
            return
        elif calls.launches_kernel(self, node):
            calls.cpp_launch(self, node)
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
        calls.metal_launch(self, library.group(1), body.kids[0], node)

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
            calls.metal_launch(self, m.group(1), body.kids[0], node)
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
        elif "is_same_v" in text:  # an output of the array interface: which branch is compiled depends on types
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
        return bool(kids) and kids[-1].kind == "throw" or any(
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
    "decl": Reader.decl, "decls": Reader.decls, "call": Reader.call, "method": Reader.method,
    "assign": Reader.assign, "if": Reader.if_, "while": Reader.while_, "block": Reader.block,
    "return": Reader.quiet, "break": Reader.quiet, "throw": Reader.quiet, "empty": Reader.quiet,
    "construct": Reader.call, "other": Reader.quiet,
}  # fmt: skip
